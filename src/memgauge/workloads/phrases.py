"""What people say in the synthetic dialogues: each phrase states one fact that one question asks for.

Slots stand in braces and are filled from ``words``. ``{who}`` is an acquaintance as the speaker puts it and
``{name}`` the bare name, ``{me}`` the speaker, ``{you}`` the other one; ``a`` adds the article (``{a pet}``) and a
capital letter makes one (``{Who}``).
"""

from typing import NamedTuple


class Phrase(NamedTuple):
    """Ways to say a fact, the question that asks for it, and the gold: a slot that every way contains verbatim."""

    says: tuple[str, ...]
    asks: str
    gold: str
    temporal: bool = False


ABOUT_OTHERS = (
    Phrase(
        (
            "{Who} lives in {city}.",
            "{Who} has settled in {city} for good.",
            "These days {who} has a small flat in {city}, close to everything.",
            "If you are ever passing through {city}, look up {who}, who lives right in the centre.",
        ),
        "Where does {name} live?",
        "city",
    ),
    Phrase(
        ("{Who} grew up in {city}.", "{Who} spent every childhood summer and winter in {city}."),
        "Where did {name} grow up?",
        "city",
    ),
    Phrase(
        (
            "{Who} works as {job}.",
            "{Who} is {job} by trade.",
            "It took {who} years of training, but now the door sign says it: {job}.",
            "I never quite pictured {who} as {job}, yet that is what pays the rent.",
        ),
        "What does {name} do for a living?",
        "job",
    ),
    Phrase(
        (
            "{Who} once worked at {employer}.",
            "Before all this, {who} spent {number} years working at {employer}.",
            "The very first payslip {who} ever got came from {employer}.",
        ),
        "Where did {name} use to work?",
        "employer",
    ),
    Phrase(
        ("{Who} studied {field}.", "{Who} has a degree in {field} and hardly ever mentions it."),
        "What did {name} study?",
        "field",
    ),
    Phrase(
        (
            "{Who} has a birthday on {day}.",
            "{Who} was born on {day}.",
            "Remind me about {day}: it is the birthday of {who} and I always forget.",
        ),
        "When is {name}'s birthday?",
        "day",
        temporal=True,
    ),
    Phrase(
        (
            "{Who} got married on {date}.",
            "The wedding of {who} was on {date}, and it poured all afternoon.",
        ),
        "When did {name} get married?",
        "date",
        temporal=True,
    ),
    Phrase(
        (
            "{Who} has {a pet} at home.",
            "{Who} came home from the shelter with {a pet}.",
            "There is {a pet} asleep on every chair that {who} owns, or so it feels.",
        ),
        "What kind of pet does {name} have?",
        "pet",
    ),
    Phrase(
        (
            "The pet of {who} is called {pet name}.",
            "{Who} named the new pet {pet name}, after a long family debate.",
        ),
        "What is {name}'s pet called?",
        "pet name",
    ),
    Phrase(
        (
            "{Who} loves {dish}.",
            "{Who} could live on {dish}.",
            "Whenever {who} comes over I make {dish}, because nothing else gets finished so fast.",
        ),
        "What is {name}'s favourite dish?",
        "dish",
    ),
    Phrase(
        (
            "{Who} cannot stand {food}.",
            "{Who} will pick {food} out of any plate, down to the last bit.",
        ),
        "What food does {name} dislike?",
        "food",
    ),
    Phrase(
        (
            "{Who} is allergic to {food}.",
            "Careful with the menu: {who} has a serious allergy to {food}.",
        ),
        "What is {name} allergic to?",
        "food",
    ),
    Phrase(
        ("{Who} only drinks {drink}.", "In a cafe {who} always orders {drink}, whatever the weather."),
        "What does {name} usually drink?",
        "drink",
    ),
    Phrase(
        ("{Who} painted the kitchen {colour}.", "The kitchen walls of {who} are now {colour}, ceiling included."),
        "What colour is {name}'s kitchen?",
        "colour",
    ),
    Phrase(
        (
            "{Who} plays the {instrument}.",
            "{Who} practises the {instrument} for {number} hours a week, with the windows shut.",
            "There was a time when {who} hated the {instrument}; now there is no stopping the scales.",
        ),
        "Which instrument does {name} play?",
        "instrument",
    ),
    Phrase(
        (
            "{Who} has taken up {hobby}.",
            "{Who} talks of nothing but {hobby}.",
            "Most weekends you will find {who} busy with {hobby}, rain or shine.",
        ),
        "What is {name}'s hobby?",
        "hobby",
    ),
    Phrase(
        (
            "{Who} is learning {language}.",
            "{Who} takes {language} lessons every {weekday} after work.",
        ),
        "Which language is {name} learning?",
        "language",
    ),
    Phrase(
        ("{Who} drives {a colour} {vehicle}.", "You can spot {who} by the {colour} {vehicle} outside."),
        "What does {name} drive?",
        "vehicle",
    ),
    Phrase(
        (
            "{Who} has {number} cousins.",
            "At the last head count {who} had {number} cousins, all of them loud.",
        ),
        "How many cousins does {name} have?",
        "number",
    ),
    Phrase(
        (
            "{Who} runs {number} kilometres daily.",
            "Before breakfast {who} runs {number} kilometres along the water.",
        ),
        "How many kilometres does {name} run?",
        "number",
    ),
    Phrase(
        ("{Who} gets up at {clock}.", "The alarm of {who} rings at {clock}, even on holidays."),
        "When does {name} get up?",
        "clock",
        temporal=True,
    ),
    Phrase(
        (
            "{Who} swims every {weekday}.",
            "Do not call {who} on {a weekday} evening, that is when the pool is empty enough for a swim.",
        ),
        "On which day does {name} go swimming?",
        "weekday",
        temporal=True,
    ),
    Phrase(
        ("{Who} lives at {address}.", "Post for {who} goes to {address}, second bell from the top."),
        "What is {name}'s address?",
        "address",
    ),
    Phrase(
        ("{Who} grows {flower}.", "The balcony of {who} is overflowing with {flower} this year."),
        "Which flowers does {name} grow?",
        "flower",
    ),
    Phrase(
        (
            "{Who} adores the novel {title}.",
            "The novel {who} keeps pressing on everybody is {title}.",
        ),
        "Which novel does {name} recommend?",
        "title",
    ),
    Phrase(
        (
            "{Who} sings in the band {title}.",
            "{Who} started a band called {title}, with two people from the office.",
        ),
        "What is {name}'s band called?",
        "title",
    ),
    Phrase(
        (
            "{Who} moved house on {date}.",
            "I carried boxes all day for {who}: the move was on {date}.",
        ),
        "When did {name} move house?",
        "date",
        temporal=True,
    ),
    Phrase(
        (
            "{Who} will visit {city} in {month}.",
            "{Who} has booked a trip to {city} for {month}, hand luggage only.",
        ),
        "Which city does {name} plan to visit?",
        "city",
    ),
    Phrase(
        (
            "{Who} collects old {material} objects.",
            "Anything made of {material} ends up on the shelves of {who} sooner or later.",
        ),
        "Which material are the things that {name} collects made of?",
        "material",
    ),
    Phrase(
        (
            "{Who} met a partner in {city}.",
            "It was in {city} that {who} met the love of a lifetime, on a delayed bus.",
        ),
        "Where did {name} meet their partner?",
        "city",
    ),
    Phrase(
        (
            "{Who} starts a new job on {plan}.",
            "The contract is signed: {who} starts at the new place on {plan}.",
        ),
        "When does {name} start the new job?",
        "plan",
        temporal=True,
    ),
    Phrase(
        (
            "{Who} broke a wrist doing {hobby}.",
            "The plaster cast that {who} is wearing comes from an accident during {hobby}.",
        ),
        "How did {name} break a wrist?",
        "hobby",
    ),
)

ABOUT_ONESELF = (
    Phrase(
        (
            "My favourite meal has to be {dish}.",
            "If I could cook one thing for the rest of my life it would be {dish}.",
        ),
        "What is {me}'s favourite meal?",
        "dish",
    ),
    Phrase(
        ("I never eat {food}.", "Please leave out {food} when I come, I never eat it."),
        "What does {me} never eat?",
        "food",
    ),
    Phrase(
        ("I get up at {clock}.", "My alarm goes off at {clock} and I obey it, mostly."),
        "When does {me} get up?",
        "clock",
        temporal=True,
    ),
    Phrase(
        ("My birthday is on {day}.", "I was born on {day}, in the middle of a thunderstorm."),
        "When is {me}'s birthday?",
        "day",
        temporal=True,
    ),
    Phrase(
        ("I was born in {city}.", "My passport says I was born in {city}, though I remember none of it."),
        "Where was {me} born?",
        "city",
    ),
    Phrase(
        ("I work as {job}.", "For a living I am {job}, in case I never said."),
        "What is {me}'s job?",
        "job",
    ),
    Phrase(
        (
            "My front door is {colour}.",
            "We painted our front door {colour} so that visitors find it at once.",
        ),
        "What colour is {me}'s front door?",
        "colour",
    ),
    Phrase(
        ("I play the {instrument}.", "I have played the {instrument} since I was {number}."),
        "Which instrument does {me} play?",
        "instrument",
    ),
    Phrase(
        ("I have {number} siblings.", "Growing up with {number} siblings taught me to eat fast."),
        "How many siblings does {me} have?",
        "number",
    ),
    Phrase(
        ("I live at {address}.", "My new place is at {address}, above the bakery."),
        "What is {me}'s address?",
        "address",
    ),
    Phrase(
        ("I start the day with {drink}.", "Nobody should talk to me before my first cup of {drink}."),
        "What does {me} drink first in the morning?",
        "drink",
    ),
    Phrase(
        ("My {pet} is called {pet name}.", "You must meet {pet name}, my {pet}, who rules the whole flat."),
        "What is {me}'s pet called?",
        "pet name",
    ),
    Phrase(
        ("I studied {field}.", "I spent {number} terms on {field} and never regretted one."),
        "What did {me} study?",
        "field",
    ),
    Phrase(
        ("I go to the gym every {weekday}.", "My gym bag is packed for {weekday}, as it is each week."),
        "On which day does {me} go to the gym?",
        "weekday",
        temporal=True,
    ),
)

EVENTS = (
    Phrase(
        (
            "I found {a thing} in {city}.",
            "In {city} I came across {a thing} for {price} euros and could not resist.",
            "The best find of my trip to {city} is {a thing}, which barely fitted in the train.",
        ),
        "In which city did {me} find the {thing}?",
        "city",
    ),
    Phrase(
        (
            "I paid {price} euros for {a thing}.",
            "Guess what, {a thing} at the {shop} cost me {price} euros after a lot of haggling.",
        ),
        "How much did {me} pay for the {thing}?",
        "price",
    ),
    Phrase(
        (
            "I visited the {venue} in {city} on {date}.",
            "On {date} I finally saw the {venue} in {city}, and the guide was brilliant.",
            "It was {date} when I stood in front of the {venue} in {city}, without an umbrella.",
        ),
        "When did {me} visit the {venue} in {city}?",
        "date",
        temporal=True,
    ),
    Phrase(
        (
            "On {date} I had {dish} in {city}.",
            "In {city} they served me {dish} on {date}, and I asked for a second helping.",
            "The {dish} I ate in {city} on {date} was worth the whole journey.",
        ),
        "What did {me} eat in {city} on {date}?",
        "dish",
    ),
    Phrase(
        (
            "My {appointment} is on {plan}.",
            "I finally booked the {appointment} for {plan}, at {clock} sharp.",
            "Please cross your fingers on {plan}, because that is the day of my {appointment}.",
        ),
        "What does {me} have on {plan}?",
        "appointment",
    ),
    Phrase(
        (
            "The {party} in {city} is on {plan}.",
            "We are invited to {a party} in {city}, and the card says {plan}.",
            "Keep {plan} free, there is {a party} in {city} and I need company.",
        ),
        "When is the {party} in {city} that {me} spoke of?",
        "plan",
        temporal=True,
    ),
    Phrase(
        (
            "I read {title} in {month} {year}.",
            "It was {month} {year} when I finished {title}, in one long night.",
        ),
        "When did {me} read {title}?",
        "month",
        temporal=True,
    ),
    Phrase(
        (
            "{Who} lent me {title}.",
            "I have been reading {title}, which {who} lent me with a warning about the ending.",
        ),
        "Who lent {me} {title}?",
        "name",
    ),
    Phrase(
        (
            "The {repair} broke on {date}.",
            "Our {repair} gave up on {date}, and the repair took {number} days.",
        ),
        "What broke at {me}'s place on {date}?",
        "repair",
    ),
    Phrase(
        (
            "I start {a course} course on {plan}.",
            "I signed up for {a course} course in {city}, and the first class is on {plan}.",
        ),
        "Which course does {me} start on {plan}?",
        "course",
    ),
    Phrase(
        (
            "I gave {who} {a thing}.",
            "For a long time I looked for a present for {who}, and in the end I chose {a thing}.",
        ),
        "Who did {me} give the {thing} to?",
        "name",
    ),
    Phrase(
        (
            "On {date} {who} made {dish} for me.",
            "You will not believe what {who} cooked for us on {date}: {dish}, from scratch.",
        ),
        "What did {name} cook on {date}?",
        "dish",
    ),
    Phrase(
        (
            "I took the train to {city} on {date}.",
            "On {date} I sat {number} hours in a train to {city}, right next to a school class.",
        ),
        "Where did {me} take the train to on {date}?",
        "city",
    ),
    Phrase(
        (
            "I will meet {who} on {plan}.",
            "I am meeting {who} for {drink} on {plan}, at the cafe by the {venue}.",
        ),
        "When will {me} meet {name}?",
        "plan",
        temporal=True,
    ),
    Phrase(
        (
            "I planted {flower} on {date}.",
            "I spent {date} on my knees in the garden, planting {flower} along the fence.",
        ),
        "What did {me} plant on {date}?",
        "flower",
    ),
    Phrase(
        (
            "I lost my {colour} scarf in {city}.",
            "Somewhere in {city} there is a bench with my {colour} scarf on it.",
        ),
        "Where did {me} lose the {colour} scarf?",
        "city",
    ),
    Phrase(
        (
            "Room {room} in {city} was lovely.",
            "The hotel in {city} put me in room {room}, with a view of the {venue}.",
        ),
        "Which room did {me} have in {city}?",
        "room",
    ),
    Phrase(
        (
            "I saw {title} with {who} in {city}.",
            "In {city} I watched {title} at the cinema, next to {who}, who cried twice.",
        ),
        "Where did {me} watch {title}?",
        "city",
    ),
    Phrase(
        (
            "I sold {a thing} to {who}.",
            "I have a buyer at last: {who} takes {a thing} off my hands for {price} euros.",
        ),
        "Who bought the {thing} from {me}?",
        "name",
    ),
    Phrase(
        (
            "I won {a course} prize on {date}.",
            "On {date} my entry won the {course} prize, {price} euros and a crooked cup.",
        ),
        "For what did {me} win a prize on {date}?",
        "course",
    ),
)

GREETINGS = (
    "Hi {you}, good to hear from you.",
    "Hello {you}, I have so much to tell you.",
    "{You}, there you are at last.",
    "Good morning {you}, do you have a minute?",
    "Hey {you}, it has been a while.",
)

# Said first, about whoever the other one spoke of.
REPLIES = (
    "I had no idea about {them}.",
    "Give {them} a hug from me.",
    "{Them} sounds like good company.",
    "Say hello to {them} for me.",
    "You always have news of {them}.",
    "I would love to meet {them} one day.",
    "That is so typical of {them}.",
    "Lovely to hear that {them} is doing well.",
    "Please tell {them} that I was asking.",
    "{Them} never stops surprising me.",
    "I was wondering how {them} was getting on.",
    "Somehow I am not surprised about {them}.",
)

# Said first, where the other one spoke of themselves.
NODS = (
    "That sounds like you, {you}.",
    "Oh {you}, I can just picture it.",
    "You do get around, {you}.",
    "{You}, you should write that down.",
    "I am glad you told me, {you}.",
    "What a story, {you}.",
    "Trust you to do that, {you}.",
    "I wish I had been there, {you}.",
)

SCENE = "{lead} {scene}, {aside}."

# Put at the end of a sentence that is a little too short.
TAGS = (
    "honestly", "I promise", "by the way", "believe me", "as it happens", "would you believe it", "at long last",
    "in case you wondered", "and I am glad of it", "which makes me smile", "strange as it may sound",
    "and that is no secret", "so now you know it too", "and nobody was more surprised than me",
)  # fmt: skip

"""Words of English: how a text is cut into them, what kind each is, and the stem it is matched by."""

import re
from functools import lru_cache

WORD = re.compile(r"\d+(?:[.,:]\d+)*(?:st|nd|rd|th|k|%)?|[^\W\d_]+(?:['’][^\W\d_]+)*|\w+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


DETERMINERS = _set(
    "a an the this that these those my your his her its our their some any every each no another both all"
)
PREPOSITIONS = _set(
    "in on at of for with from to into onto by about over under after before during between through near around"
    " since until as like than within without across against along behind beside off out up down towards via"
)
CONJUNCTIONS = _set("and or but so because though although if when while plus cause whereas unless")
PRONOUNS = _set(
    "i you he she it we they me him us them myself yourself himself herself itself ourselves themselves who whom"
    " whose which what there something anything everything someone anyone everyone one how why where"
)
AUXILIARIES = _set(
    "be am is are was were been being have has had having do does did done will would can could should shall may"
    " might must i'm i've i'd i'll you're you've you'll you'd we're we've we'll we'd they're they've they'll it's"
    " it'll he's she's he'd she'd that's there's what's who's here's let's isn't aren't wasn't weren't don't"
    " doesn't didn't won't wouldn't can't cannot couldn't shouldn't haven't hasn't hadn't gonna wanna ain't"
)
ADVERBS = _set(
    "really very just also too still even already always never ever now then here pretty quite recently lately"
    " super definitely totally actually again soon not only more most much many lot lots well such rather almost"
    " maybe perhaps however often sometimes usually finally ago away back else instead yet"
)
GREETINGS = _set(
    "hey hi hello wow yeah yep yes nope oh ok okay thanks thank congrats btw haha aw aww sure hmm ah bye sorry"
    " please glad"
)
NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
    "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40,
    "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000,
    "once": 1, "twice": 2, "dozen": 12, "couple": 2,
}  # fmt: skip
NEGATIONS = _set(
    "not no never none neither nor nobody nothing cannot without isn't aren't wasn't weren't don't doesn't didn't"
    " won't wouldn't can't couldn't shouldn't haven't hasn't hadn't ain't"
)

# Words that say nothing of what a text is about.
STOP = (
    DETERMINERS | PREPOSITIONS | CONJUNCTIONS | PRONOUNS | AUXILIARIES | ADVERBS | GREETINGS
    | _set("s t d m ll ve re get got let go going thing things kind type sort did say said tell")
)  # fmt: skip

# Forms that no suffix rule reaches, and everyday words for the same thing.
_SAME = {
    form: head
    for head, forms in {
        "go": "goes went gone", "buy": "bought", "make": "made", "take": "took taken", "win": "won",
        "begin": "began begun start started starting", "run": "ran", "meet": "met", "see": "saw seen",
        "give": "gave given gift", "feel": "felt", "find": "found", "write": "wrote written", "teach": "taught",
        "think": "thought", "bring": "brought", "come": "came", "become": "became", "know": "knew known",
        "leave": "left", "lose": "lost", "keep": "kept", "hold": "held", "sell": "sold", "send": "sent",
        "spend": "spent", "speak": "spoke spoken speech", "eat": "ate eaten", "drive": "drove driven",
        "fly": "flew flown flight", "grow": "grew grown", "draw": "drew drawn", "break": "broke broken",
        "choose": "chose chosen choice", "build": "built", "catch": "caught", "fall": "fell fallen",
        "sing": "sang sung", "swim": "swam swum", "wear": "wore worn", "hear": "heard", "read": "reading",
        "child": "children kid kids", "mother": "mom mum mommy", "father": "dad daddy", "person": "people",
        "man": "men", "woman": "women", "grandmother": "grandma granny", "grandfather": "grandpa",
        "movie": "film films", "photo": "photograph pic pics picture pictures photos", "job": "occupation",
        "favorite": "favourite", "color": "colour colours colors", "marry": "marriage married wedding wed",
        "die": "died death dead", "live": "lives living lived", "sick": "ill illness", "puppy": "pup pups",
        "bike": "bicycle cycling", "doctor": "doc", "vacation": "holiday", "city": "town",
    }.items()
    for form in forms.split()
}  # fmt: skip

# Past forms that do not end in -ed.
PAST = _set(
    "went bought made took won began ran met saw gave felt found wrote taught thought brought came became knew left"
    " lost kept held sold sent spent spoke ate drove flew grew drew broke chose built caught fell sang swam wore heard"
    " said told got paid stood understood led slept sat rode rose woke hid bit hung lay dug fought forgot forgave froze"
    " threw showed shook stole struck swore tore lent bent dealt meant dreamt learnt rang sank shot slid stuck withdrew"
)


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """What ``word`` is matched by: lower case, without its inflection (``Adopting`` and ``adopted`` agree)."""
    word = word.lower().replace("’", "'")
    if word.endswith("'s"):
        word = word[:-2]
    if word in _SAME:
        return stem(_SAME[word])
    if word in NUMBERS:
        return str(NUMBERS[word])
    if len(word) <= 3 or word[0].isdigit():
        return word
    for _ in range(2):  # volunteering, volunteer
        for suffix, instead in _SUFFIXES:
            if word.endswith(suffix) and len(word) - len(suffix) >= 3:
                word = word[: len(word) - len(suffix)] + instead
                break
        if word in _SAME:
            return stem(_SAME[word])
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sle":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] in "ey" else word


_SUFFIXES = (
    ("ations", "at"), ("ation", "at"),
    ("itions", ""), ("ition", ""), ("ments", ""), ("ment", ""), ("nesses", ""), ("ness", ""),
    ("ings", ""), ("ing", ""), ("iest", "y"), ("ied", "y"), ("ies", "y"), ("ie", "y"), ("ssed", "ss"), ("sses", "ss"),
    ("ers", ""), ("ors", ""), ("er", ""), ("or", ""), ("ion", ""), ("ions", ""), ("ed", ""),
    ("es", ""), ("ss", "ss"), ("us", "us"), ("is", "is"), ("s", ""), ("ly", ""),
)  # fmt: skip


def number(word: str) -> int | None:
    """The whole number that ``word`` says, in figures or letters."""
    low = word.lower()
    if low in NUMBERS:
        return NUMBERS[low]
    digits = low.replace(",", "")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else None


def spelled(count: int) -> str:
    """A count as one writes it in a sentence: in letters up to twelve."""
    return _SPELLED[count] if 0 <= count < len(_SPELLED) else str(count)


_SPELLED = tuple(NUMBERS)[:13]

"""The vocabulary of the synthetic dialogues: what the slots of ``phrases`` are filled with."""


def _list(text: str) -> tuple[str, ...]:
    return tuple(entry.strip() for entry in text.replace("\n", " ").split(",") if entry.strip())


FIRST_NAMES = _list("""
    Aaron, Abigail, Ada, Adele, Agnes, Aisha, Alana, Alba, Aldo, Alice, Alma, Amara, Amelie, Amir, Anders,
    Andrea, Anika, Anton, Arthur, Astrid, Audrey, Aurora, Axel, Beatrice, Benedict, Bianca, Bjorn, Boris,
    Bruno, Camille, Carlos, Carmen, Cecilia, Chiara, Clara, Claudio, Conrad, Cora, Cyrus, Dalia, Damian,
    Daphne, Dario, Delia, Derek, Diego, Dina, Dmitri, Dora, Edgar, Edith, Elena, Elias, Elif, Elsa, Emil,
    Enzo, Erik, Esther, Eva, Fabian, Farah, Felix, Fiona, Flora, Florian, Frida, Gabriel, Gemma, Georg, Gita,
    Grace, Greta, Gustav, Hana, Harold, Hector, Heidi, Helena, Henrik, Hugo, Ibrahim, Ida, Igor, Imani, Ines,
    Ingrid, Irene, Isaac, Ivan, Jacob, Jasmin, Jelena, Joan, Joel, Johan, Jonas, Judith, Julian, Kaito, Karim,
    Karla, Kenji, Kira, Klaus, Lara, Lars, Laura, Leila, Leo, Lidia, Linus, Lorenzo, Lucia, Ludwig, Luis,
    Lydia, Magnus, Malik, Marco, Margot, Marina, Marta, Mateo, Maya, Mia, Milan, Mina, Mira, Nadia, Naomi,
    Natalia, Nico, Nina, Noah, Nora, Olga, Oliver, Omar, Orla, Oscar, Otto, Pablo, Paula, Pedro, Petra,
    Philip, Pia, Priya, Quentin, Rachel, Rafael, Rana, Regina, Ren, Rita, Robin, Roman, Rosa, Ruben, Ruth,
    Sabina, Salma, Samir, Sandra, Sara, Selma, Sergio, Silas, Simon, Sofia, Stella, Sven, Sylvia, Tadeo,
    Tamara, Tara, Teresa, Theo, Thomas, Tilda, Tobias, Uma, Ursula, Valentin, Vera, Victor, Viola, Wanda,
    Wilma, Xavier, Yara, Yasmin, Yuki, Yvonne, Zara, Zoe
""")

SURNAMES = _list("""
    Abbott, Almeida, Amsel, Baker, Baptista, Barlow, Becker, Bennett, Berg, Bianchi, Brandt, Caldwell,
    Castillo, Chen, Colbert, Conti, Costa, Dahl, Delgado, Demir, Dubois, Eriksen, Farkas, Ferrari, Fischer,
    Flores, Fontaine, Garcia, Gomes, Haddad, Hansen, Hartley, Hoffman, Holm, Horvat, Ito, Jansen, Kaplan,
    Keller, Khan, Kovacs, Lang, Larsen, Lefevre, Lindgren, Lopez, Marin, Martinez, Mercier, Meyer, Molina,
    Moreau, Nakamura, Navarro, Nielsen, Novak, Okafor, Olsen, Ortega, Park, Pereira, Petrov, Quinn, Ramos,
    Reyes, Rossi, Sato, Schmidt, Silva, Singh, Sorensen, Suzuki, Tanaka, Torres, Vargas, Vega, Visser, Vogel,
    Weber, Winter, Wood, Yilmaz, Zeman
""")

# Only such as fit any name.
RELATIONS = _list("""
    cousin, neighbour, colleague, dentist, flatmate, landlord, old classmate, piano teacher, choir friend,
    godchild, running partner, hairdresser, mechanic, tutor, physiotherapist, chess partner, tennis partner,
    former boss, childhood friend, pen friend, florist, swimming coach, yoga teacher, second cousin, gardener,
    neighbour upstairs, neighbour downstairs, book club friend, allotment neighbour, carpool partner,
    old roommate, driving instructor, guitar teacher, optician, bandmate, apprentice, hiking companion,
    language partner, old teammate, baker, accountant, bridge partner, study friend, singing teacher,
    favourite cousin, youngest cousin, eldest cousin, lab partner
""")

CITIES = _list("""
    Aarhus, Antwerp, Athens, Auckland, Austin, Bari, Basel, Belfast, Bergen, Bilbao, Bologna, Bordeaux,
    Boston, Bratislava, Bremen, Bristol, Brno, Bruges, Brussels, Budapest, Calgary, Cardiff, Chicago, Cologne,
    Cork, Denver, Dresden, Dublin, Dundee, Edinburgh, Florence, Freiburg, Galway, Geneva, Genoa, Ghent,
    Girona, Glasgow, Granada, Graz, Halifax, Hamburg, Hanover, Helsinki, Innsbruck, Istanbul, Kyoto, Krakow,
    Lausanne, Leeds, Leipzig, Leuven, Lille, Limerick, Linz, Lisbon, Liverpool, Ljubljana, Lucerne, Lyon,
    Madrid, Malaga, Malmo, Manchester, Marseille, Milan, Montreal, Munich, Nagoya, Nantes, Naples, Nice,
    Odense, Osaka, Oslo, Ottawa, Oxford, Padua, Palermo, Parma, Perth, Pisa, Porto, Portland, Prague, Quebec,
    Riga, Rome, Rotterdam, Salzburg, Santiago, Sapporo, Seattle, Seville, Sheffield, Siena, Sofia, Split,
    Stockholm, Strasbourg, Tallinn, Tartu, Toledo, Toronto, Toulouse, Trieste, Turin, Utrecht, Valencia,
    Vancouver, Venice, Verona, Vienna, Vilnius, Warsaw, Zagreb, Zurich
""")

STREETS = _list("""
    Alder, Almond, Anchor, Ash, Barley, Beacon, Birch, Bishop, Bramble, Bridge, Canal, Castle, Cedar, Chapel,
    Cherry, Chestnut, Clover, Copper, Elm, Falcon, Fern, Field, Foundry, Garden, Harbour, Hawthorn, Hazel,
    Heron, Hill, Holly, Ivy, Juniper, Laurel, Lavender, Lily, Linden, Maple, Market, Meadow, Mill, Mulberry,
    Oak, Orchard, Park, Pine, Poplar, Quarry, Quay, River, Rose, Rowan, Saffron, School, Spring, Station,
    Swan, Thistle, Tower, Walnut, Willow
""")
STREET_KINDS = ("Street", "Lane", "Road", "Square", "Row", "Avenue", "Close", "Hill")

JOBS = _list("""
    an accountant, an actuary, an architect, an archivist, a baker, a barista, a beekeeper, a biologist,
    a bookbinder, a botanist, a brewer, a bus driver, a butcher, a carpenter, a cartographer, a chemist,
    a conductor, a courier, a dental nurse, a designer, an editor, an electrician, an engineer, a farmer,
    a ferry captain, a firefighter, a florist, a forester, a geologist, a glazier, a goldsmith,
    a graphic artist, a historian, an interpreter, a joiner, a journalist, a judge, a lab technician,
    a lawyer, a librarian, a locksmith, a mason, a midwife, a museum guide, a notary, a nurse, an optician,
    a paramedic, a pastry chef, a pharmacist, a photographer, a pilot, a plumber, a postal worker, a potter,
    a printer, a producer, a radio host, a roofer, a sailor, a sculptor, a secretary, a set designer,
    a social worker, a sound engineer, a statistician, a stonecutter, a surgeon, a surveyor, a tailor,
    a teacher, a tour guide, a train driver, a translator, an upholsterer, a vet, a violin maker, a waiter,
    a watchmaker, a weaver, a web developer, a welder, a wine merchant, a zookeeper
""")

EMPLOYERS = _list("""
    an airport, an aquarium, an art school, a bakery, a bank, a bicycle factory, a boatyard, a bookshop,
    a brewery, a bus company, a cheese dairy, a clinic, a concert hall, a copper mine, a cycling club,
    a design studio, a dry cleaner, a film archive, a fish market, a forestry office, a garden centre,
    a hospice, a hotel, an insurance firm, a kindergarten, a law firm, a lighthouse museum, a map publisher,
    a music school, a newspaper, an observatory, an opera house, a paper mill, a planetarium,
    a port authority, a primary school, a printing house, a radio station, a railway depot, a repair cafe,
    a sawmill, a shoe factory, a ski resort, a software company, a solar start-up, a tea importer, a theatre,
    a toy maker, a train museum, a travel agency, a university, a veterinary clinic, a vineyard,
    a weather service
""")

FIELDS = _list("""
    accounting, anthropology, archaeology, astronomy, biochemistry, botany, chemistry, civil engineering,
    classics, computing, dentistry, economics, film, fine art, forestry, geography, geology, graphic design,
    history, journalism, landscape design, law, linguistics, literature, marine biology, mathematics,
    medicine, meteorology, music, nursing, philosophy, physics, politics, psychology, robotics, sociology,
    statistics, theology, town planning, zoology
""")

DISHES = _list("""
    apple strudel, aubergine stew, baked trout, barley soup, bean chilli, beetroot salad, black bean tacos,
    bread pudding, butter chicken, cabbage rolls, carrot cake, cauliflower curry, cheese fondue,
    chickpea stew, clam chowder, corn fritters, courgette pie, crab cakes, cucumber salad, dal with rice,
    duck ragout, egg curry, falafel, fennel salad, fig tart, fish pie, fried plantain, garlic prawns, gnocchi,
    goulash, green curry, grilled mackerel, herb omelette, kimchi stew, lamb tagine, leek tart, lemon chicken,
    lemon cake, lentil soup, mango salad, meatballs, miso soup, moussaka, mushroom risotto, mussels,
    nettle soup, noodle soup, okra stew, onion soup, paella, pea soup, peanut noodles, pear crumble,
    pesto pasta, pierogi, plum cake, poached salmon, potato dumplings, pumpkin ravioli, quiche, ratatouille,
    red lentil dal, rhubarb crumble, rice pudding, roast chicken, rye bread, saffron rice, sesame noodles,
    shakshuka, smoked trout, spinach pie, squash soup, steamed buns, stuffed peppers, sweet potato curry,
    tofu stir-fry, tomato soup, tuna salad, turnip gratin, veal stew, vegetable lasagne, walnut bread,
    watermelon salad, yoghurt cake
""")

DRINKS = _list("""
    apple juice, barley tea, black coffee, blackcurrant juice, buttermilk, camomile tea, carrot juice, cocoa,
    cold brew, cranberry juice, Darjeeling, decaf, dry cider, Earl Grey, elderflower cordial, espresso,
    ginger ale, ginger tea, grape juice, green tea, hibiscus tea, hot lemon, iced coffee, jasmine tea, kefir,
    lapsang, lemonade, malt beer, mint tea, nettle tea, oat milk cocoa, oolong, pear juice, peppermint tea,
    pu-erh, red wine, rooibos, rosehip tea, sage tea, sour cherry juice, sparkling water, stout, tomato juice,
    tonic water, verbena tea, wheat beer, white tea
""")

FOODS = _list("""
    almonds, anchovies, apricots, bananas, basil, beetroot, blue cheese, capers, cashews, celery, cherries,
    coconut, coriander, crab, cress, dill, eggs, figs, garlic, ginger, goat cheese, grapefruit, hazelnuts,
    honey, kiwi, leeks, lentils, lobster, lychees, mango, marzipan, melon, mushrooms, mussels, mustard, okra,
    olives, onions, oysters, papaya, parsnips, peanuts, pine nuts, pineapple, pistachios, plums, prawns,
    quinoa, radishes, raisins, sesame, shellfish, soy, spinach, squid, strawberries, tofu, truffles, turmeric,
    walnuts
""")

COLOURS = _list("""
    amber, apricot, aubergine, beige, bottle green, bright red, burgundy, charcoal, cobalt blue, copper,
    coral, cream, crimson, dark blue, emerald, forest green, gold, indigo, ivory, khaki, lavender,
    lemon yellow, lilac, lime green, magenta, maroon, mint green, mustard, navy, ochre, olive, orange,
    pale pink, plum, royal blue, russet, scarlet, sea green, silver, sky blue, slate grey, teal, terracotta,
    turquoise, violet, white
""")

FLOWERS = _list("""
    anemones, asters, azaleas, bluebells, camellias, carnations, chrysanthemums, cornflowers, crocuses,
    daffodils, dahlias, daisies, delphiniums, forget-me-nots, foxgloves, freesias, gardenias, geraniums,
    gladioli, heather, hellebores, hollyhocks, hyacinths, hydrangeas, irises, jasmine, lavender, lilac,
    lilies, lupins, magnolias, marigolds, nasturtiums, orchids, pansies, peonies, petunias, poppies,
    primroses, ranunculus, rhododendrons, roses, snapdragons, snowdrops, sunflowers, sweet peas, tulips,
    violets, wisteria, zinnias
""")

INSTRUMENTS = _list("""
    accordion, alto saxophone, autoharp, bagpipes, banjo, baritone horn, bass guitar, bassoon, bodhran,
    bongos, bouzouki, bugle, cajon, cello, church organ, clarinet, concertina, cornet, double bass, dulcimer,
    English horn, euphonium, fiddle, flute, French horn, glockenspiel, guitar, hammered dulcimer, harmonica,
    harp, harpsichord, hurdy-gurdy, lute, mandolin, marimba, oboe, ocarina, pan pipes, piano, piccolo,
    recorder, sitar, steel drum, tambourine, tin whistle, trombone, trumpet, tuba, ukulele, vibraphone, viola,
    violin, xylophone, zither
""")

HOBBIES = _list("""
    archery, badminton, ballroom dancing, baking, beekeeping, billiards, birdwatching, bookbinding,
    bouldering, bowling, bread baking, calligraphy, canoeing, card games, chess, choir singing, climbing,
    cross-stitch, curling, cycling, darts, diving, dominoes, drawing, embroidery, fencing, fishing,
    folk dancing, gardening, glass painting, go, golf, handball, hiking, hockey, ice skating, improv theatre,
    jogging, judo, juggling, karate, kayaking, kite flying, knitting, lace making, leatherwork, lino printing,
    model railways, mosaic, mushroom picking, orienteering, origami, paddling, photography, pilates, pottery,
    puppetry, quilting, rowing, sailing, salsa, sculpture, sewing, skiing, snowshoeing, snorkelling, squash,
    stargazing, surfing, swimming, table tennis, tai chi, tango, tennis, volleyball, watercolours, weaving,
    weightlifting, whittling, woodturning, yoga
""")

LANGUAGES = _list("""
    Arabic, Basque, Bengali, Breton, Bulgarian, Cantonese, Catalan, Croatian, Czech, Danish, Dutch, Estonian,
    Farsi, Finnish, French, Galician, Georgian, German, Greek, Hebrew, Hindi, Hungarian, Icelandic, Irish,
    Italian, Japanese, Korean, Latvian, Lithuanian, Maltese, Mandarin, Norwegian, Polish, Portuguese,
    Romanian, Russian, Serbian, Slovak, Slovene, Spanish, Swahili, Swedish, Tamil, Thai, Turkish, Ukrainian,
    Urdu, Vietnamese, Welsh
""")

PETS = _list("""
    beagle, border collie, budgerigar, canary, chameleon, chinchilla, cockatiel, corgi, dachshund, donkey,
    ferret, gecko, goldfish, greyhound, guinea pig, hamster, hedgehog, hen, husky, iguana, kitten,
    lop-eared rabbit, lovebird, magpie, Maine Coon, mouse, newt, parakeet, parrot, pointer, pony, poodle, pug,
    rabbit, rat, retriever, sheepdog, spaniel, stick insect, tabby cat, terrier, tortoise, turtle, whippet
""")
PET_NAMES = _list("""
    Acorn, Almond, Apollo, Bagel, Banjo, Barley, Basil, Bean, Biscuit, Blossom, Bobbin, Bramble, Bubbles,
    Button, Caramel, Cashew, Cinder, Clementine, Clover, Cobble, Cocoa, Comet, Cookie, Cricket, Crumpet,
    Dumpling, Echo, Ember, Fidget, Figaro, Freckles, Fudge, Ginger, Gizmo, Hazelnut, Hobbit, Iggy, Jellybean,
    Juniper, Kiwi, Maple, Marble, Marmalade, Mocha, Mochi, Moss, Muffin, Mustard, Nacho, Noodle, Nutmeg,
    Oatmeal, Olive, Orbit, Paprika, Patches, Peanut, Pebble, Pepper, Pickle, Pippin, Pixel, Popcorn, Potato,
    Pretzel, Pudding, Pumpkin, Quill, Radish, Ripple, Rocket, Rusty, Saffron, Sesame, Smudge, Sprout, Tango,
    Thimble, Toffee, Truffle, Turnip, Waffle, Walnut, Widget, Ziggy
""")

VEHICLES = _list("""
    cargo bike, camper van, convertible, delivery van, electric scooter, estate car, folding bike, hatchback,
    hybrid, jeep, minibus, moped, motorcycle, mountain bike, pickup, racing bike, sedan, sidecar motorcycle,
    sports car, tandem
""")

QUALITIES = _list("""
    antique, battered, carved, chipped, compact, crooked, embroidered, engraved, faded, foldable, folding,
    fringed, gilded, glazed, hand-painted, handmade, heavy, inlaid, knitted, lacquered, lopsided, miniature,
    narrow, old, oval, padded, patched, patterned, polished, quilted, restored, round, rusty, second-hand,
    slim, speckled, square, striped, sturdy, tall, tiny, varnished, vintage, woven
""")
MATERIALS = _list("""
    aluminium, ash, bamboo, birch, brass, bronze, canvas, ceramic, cherrywood, copper, cork, corduroy, cotton,
    denim, enamel, felt, glass, iron, leather, linen, maple, marble, oak, pewter, pine, plywood, porcelain,
    rattan, rosewood, silk, silver, slate, steel, stone, suede, teak, tin, tweed, velvet, walnut, wicker, wool
""")
OBJECTS = _list("""
    backpack, basket, bathmat, bench, birdhouse, blanket, bookcase, bookend, bowl, box, bracelet, bread bin,
    briefcase, brooch, bucket, candlestick, chair, chessboard, chest, clock, coat rack, coffee pot, cushion,
    desk, doorstop, easel, flowerpot, footstool, fruit bowl, hammock, handbag, hat, jewellery box, jug,
    kettle, lamp, lampshade, letterbox, mailbox, mirror, mug, music stand, napkin ring, necklace,
    notice board, paperweight, pencil case, picture frame, planter, purse, record stand, rug, saddle,
    salad bowl, screen, shelf, sideboard, sled, stool, suitcase, table, tea tray, teapot, toolbox, trunk,
    umbrella stand, vase, waistcoat, wallet, watering can, wine rack, workbench
""")

SHOPS = _list("""
    antique shop, art fair, auction house, bazaar, charity shop, craft market, department store, estate sale,
    flea market, furniture store, garage sale, gift shop, harbour market, hardware store, junk shop,
    market hall, museum shop, night market, open studio, pawnshop, pop-up store, potter's studio,
    salvage yard, second-hand shop, street market, Sunday market, village fete, warehouse sale, winter market,
    workshop
""")

VENUES = _list("""
    abbey, amphitheatre, aquarium, arboretum, botanical garden, brewery, bridge museum, bus museum, cable car,
    cathedral, cave, chocolate museum, citadel, city archive, clock tower, comics museum, deer park,
    design museum, dockyard, film museum, fire museum, folk museum, fortress, glassworks, herb garden,
    ice rink, island ferry, lighthouse, maze, maritime museum, medical museum, mineral museum, monastery,
    music hall, observatory, old brewery, old town hall, open-air cinema, opera house, palm house,
    paper museum, planetarium, puppet theatre, railway museum, reptile house, Roman baths, rose garden,
    salt mine, sculpture park, ship museum, silk mill, spa, textile museum, toy museum, tram museum,
    university museum, viaduct, war cemetery, water tower, waterfall, wax museum, windmill, zoo
""")

COURSES = _list("""
    accordion, archery, ballet, basket weaving, bicycle repair, bread baking, calligraphy, carpentry,
    ceramics, cheese making, coding, comic drawing, creative writing, dog training, dressmaking,
    drystone walling, enamelling, fencing, first aid, flower arranging, furniture restoration, genealogy,
    glass blowing, knife sharpening, landscape painting, lifeguard, map reading, mosaic,
    mushroom identification, navigation, origami, pasta making, photography, plumbing, printmaking,
    public speaking, saddle making, screen printing, sign language, silversmithing, sourdough, stained glass,
    storytelling, tailoring, tree pruning, upholstery, watch repair, wine tasting, wood carving
""")

TITLE_ADJECTIVES = _list("""
    Amber, Borrowed, Broken, Burning, Crooked, Distant, Drifting, Empty, Endless, Faithful, Falling, Fearless,
    Forgotten, Frozen, Gentle, Golden, Hidden, Hollow, Hungry, Invisible, Last, Lonely, Lost, Midnight,
    Narrow, Northern, Patient, Quiet, Restless, Salted, Scarlet, Second, Secret, Seventh, Silent, Sleeping,
    Slow, Southern, Stolen, Stubborn, Sunken, Tangled, Unfinished, Unlikely, Velvet, Wandering, Whispering,
    Wild, Winter, Wooden
""")
TITLE_NOUNS = _list("""
    Almanac, Apprentice, Archive, Astronomer, Beekeeper, Bridge, Cabinet, Candle, Cartographer, Cathedral,
    Clockmaker, Coast, Compass, Conductor, Country, Courier, Crossing, Daughter, Ferry, Garden, Gardener,
    Glacier, Harbour, Harvest, Heiress, Horizon, Hotel, Hour, Inheritance, Island, Journey, Kingdom, Ladder,
    Lantern, Letter, Librarian, Lighthouse, Locksmith, Map, Meadow, Mirror, Mountain, Neighbour, Orchard,
    Painter, Passenger, Physician, Piano, Pilgrim, Postcard, Promise, Recipe, River, Room, Sailor, Season,
    Shore, Staircase, Stranger, Street, Summer, Tailor, Telegram, Tide, Tower, Traveller, Valley, Verdict,
    Violin, Voyage, Wedding, Window, Witness, Year
""")

REPAIRS = _list("""
    bicycle, blender, boiler, camera, central heating, clarinet, coffee grinder, dishwasher, doorbell, dryer,
    fence, freezer, fridge, front door, garage door, garden gate, gutter, hearing aid, iron, kitchen tap,
    laptop, lawnmower, letterbox, microwave, oven, phone, piano, printer, projector, radiator, radio,
    record player, roof, saddle, sewing machine, shower, skylight, spectacles, tent, toaster, tumble dryer,
    turntable, vacuum cleaner, violin bow, washing machine, watch
""")

APPOINTMENTS = _list("""
    allergy test, bank appointment, blood test, boiler service, car inspection, citizenship interview,
    dental check-up, driving lesson, driving test, eye test, flu jab, haircut, hearing test, house viewing,
    insurance meeting, interview, language exam, lease signing, massage, notary appointment, open mic night,
    parents' evening, passport appointment, performance review, photo shoot, physiotherapy session,
    piano exam, recital, school reunion, singing exam, swimming gala, tax appointment, thesis defence,
    vaccination, vet visit, X-ray
""")

PARTY_REASONS = _list("""
    anniversary party, art opening, baby shower, barbecue, birthday dinner, book launch, bonfire,
    carol evening, christening, concert, costume party, engagement party, family reunion, farewell dinner,
    film night, garden party, graduation, harvest supper, housewarming, jam session, naming ceremony,
    New Year brunch, picnic, poetry night, pub quiz, retirement party, school play, street party, summer fete,
    surprise party, talent show, tea party, wedding
""")

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
NUMBERS = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip

# What the room does while somebody writes: filler that states nothing about anybody.
SCENES = _list("""
    the kettle is rumbling, the rain has started again, a tram just rattled past, the radiator is ticking,
    somebody is mowing a lawn, the window keeps rattling, the street lamps are coming on,
    a delivery van is blocking the road, church bells are ringing, the lights flickered for a second,
    a pigeon is strutting along the sill, the lift is humming, the bread is cooling, my tea is going cold,
    the fog is lifting, the sun came out, a door slammed somewhere, the washing is nearly dry,
    the wind has turned, a siren went by, children are shouting in the yard, the soup is simmering,
    the clock just struck, the train is running late, the cafe is filling up, my battery is low,
    the neighbours are drilling, a fly is circling the lamp, the ink is running out,
    the candle is almost gone, the bus is crowded, the wifi keeps dropping, hail is drumming on the roof,
    the leaves are blowing about, it smells of toast, the gulls are loud, the fan is whirring,
    snow is sliding off the gutter, the queue is not moving, somebody is whistling, the tap is dripping,
    the sky is turning pink, the phone keeps buzzing
""")
ASIDES = _list("""
    so I will keep this short, but I wanted to write anyway, so bear with me, and I quite like it,
    which is oddly soothing, but never mind that, so I lost my thread, and I should really get up,
    which made me laugh, but I can hardly complain, so forgive any typos, and I am in no hurry,
    which is typical for this hour, but the mood is good, so I moved to the other room,
    and it reminds me how late it is, which I did not expect, but it will pass, so I put on a jumper,
    and nobody seems to mind, which suits me fine, but that is life, so I had to start again,
    and I have not even sat down, which is a first, but I am used to it
""")
LEADS = _list("""
    Just now, Outside, As I write, Right this minute, Over here, In the background, For once, Once again,
    Believe it or not, Meanwhile, At this very moment, Of course, Funnily enough, As always, Here,
    By the sound of it, While I type, Apparently
""")

"""The normative tables, from the text of MS-PRES, and our policy where the standard has none.

Nothing here is read from Mappings/: two statements of the same rule are compared by the vectors.
"""

# MS-PRES 2.2.2.7.1: lowest number of each class. The last one has no upper bound.
BOUNDS = [0, 3000, 4500, 6000, 7500, 9000, 12000, 15000, 18000]
CLASSES = ["unknown", "online", "idle", "busy", "busy-idle", "dnd", "brb", "away", "offline"]
# The number a client publishes for each class.
USUAL = [0, 3500, 5000, 6500, 8000, 9500, 12500, 15500, 18500]
LARGEST = 4294967295


def edges():
    """Both edges of every class, and the largest number that the type can hold."""
    found = []
    for index, low in enumerate(BOUNDS):
        high = BOUNDS[index + 1] - 1 if index + 1 < len(BOUNDS) else LARGEST
        found += [low, high]
    return found


def class_of(number):
    return max(index for index, low in enumerate(BOUNDS) if number >= low)


# MS-PRES 3.7.5.4: availability and token to basic status and RPID activity.
def to_pidf(number, token):
    """basic, activity or None, id of the row."""
    kind = CLASSES[class_of(number)]
    if kind == "busy" and token == "on-the-phone":
        return "open", "on-the-phone", "A2P-04"
    return {
        "unknown": ("closed", None, "A2P-01"),
        "online": ("open", None, "A2P-02"),
        "idle": ("open", "away", "A2P-03"),
        "busy": ("open", "busy", "A2P-05"),
        "busy-idle": ("open", "away", "A2P-06"),
        "dnd": ("open", "busy", "A2P-07"),
        "brb": ("open", "away", "A2P-08"),
        "away": ("open", "away", "A2P-09"),
        "offline": ("closed", None, "A2P-10"),
    }[kind]


# Rows whose output another class has as well, as its only meaning.
LOSSY_TO_PIDF = {"A2P-01", "A2P-03", "A2P-06", "A2P-07", "A2P-08"}


# MS-PRES 3.7.5.5: availability and token to the state and the two aggregate numbers; text without a token by class.
def to_msrtc(number, token):
    """state@avail, text, availability@aggregate, activity@aggregate, id of the row."""
    kind = CLASSES[class_of(number)]
    if kind == "busy" and token == "on-the-phone":
        return 6500, "on-the-phone", 300, 500, "A2M-04"
    avail, word, available, active, row = {
        "unknown": (18500, "offline", 0, 100, "A2M-01"),
        "online": (3500, "online", 300, 400, "A2M-02"),
        "idle": (15500, "away", 300, 100, "A2M-03"),
        "busy": (6500, "busy", 300, 600, "A2M-05"),
        "busy-idle": (15500, "away", 300, 100, "A2M-06"),
        "dnd": (9500, "do-not-disturb", 300, 600, "A2M-07"),
        "brb": (12500, "be-right-back", 300, 300, "A2M-08"),
        "away": (15500, "away", 300, 100, "A2M-09"),
        "offline": (18500, "offline", 0, 100, "A2M-10"),
    }[kind]
    return avail, token or word, available, active, row


LOSSY_TO_MSRTC = {"A2M-01", "A2M-03", "A2M-06"}


# Policy: availability and token to xpidf.
def to_xpidf(number, token):
    """status, substatus, id of the row."""
    kind = CLASSES[class_of(number)]
    if kind == "busy" and token == "on-the-phone":
        return "open", "onthephone", "A2X-04"
    return {
        "unknown": ("closed", "offline", "A2X-01"),
        "online": ("open", "online", "A2X-02"),
        "idle": ("open", "idle", "A2X-03"),
        "busy": ("open", "busy", "A2X-05"),
        "busy-idle": ("open", "idle", "A2X-06"),
        "dnd": ("open", "busy", "A2X-07"),
        "brb": ("open", "berightback", "A2X-08"),
        "away": ("open", "away", "A2X-09"),
        "offline": ("closed", "offline", "A2X-10"),
    }[kind]


LOSSY_TO_XPIDF = {"A2X-01", "A2X-06", "A2X-07"}


# MS-PRES 7.2: the tokens that are enumerated, the class in which each holds, and (policy) what it says in RPID beside the class.
TOKENS = {
    # token: lowest, highest, RPID value or None, text of other or None, id of the row
    "on-the-phone": (6000, 8999, "on-the-phone", None, "TOK-01"),
    "in-a-conference": (6000, 8999, "meeting", "In a conference", "TOK-02"),
    "in-a-meeting": (6000, 8999, "meeting", None, "TOK-03"),
    "urgent-interruptions-only": (6000, 8999, "busy", "Urgent interruptions only", "TOK-04"),
    "in-presentation": (9000, 11999, "presentation", None, "TOK-05"),
    "out-of-office": (12000, 17999, "away", "Out of office", "TOK-06"),
    "off-work": (15000, 17999, "away", "Off work", "TOK-07"),
}

# Policy: one RPID activity of an open service to availability, token, text of our own, and whether meaning is lost.
ACTIVITIES = {
    "appointment": (6500, "in-a-meeting", None, "R2A-appt", True),
    "away": (15500, None, None, "R2A-away", False),
    "breakfast": (15500, None, "At breakfast", "R2A-bkfst", False),
    "busy": (6500, None, None, "R2A-busy", False),
    "dinner": (15500, None, "At dinner", "R2A-dinnr", False),
    "holiday": (15500, "out-of-office", None, "R2A-hol", True),
    "in-transit": (12500, None, "In transit", "R2A-trans", False),
    "looking-for-work": (3500, None, "Looking for work", "R2A-job", False),
    "meal": (15500, None, "At a meal", "R2A-meal", False),
    "meeting": (6500, "in-a-meeting", None, "R2A-meet", False),
    "on-the-phone": (6500, "on-the-phone", None, "R2A-otp", False),
    "performance": (9500, None, "At a performance", "R2A-perf", False),
    "permanent-absence": (18500, None, None, "R2A-perm", True),
    "playing": (6500, None, "Playing", "R2A-play", False),
    "presentation": (9500, "in-presentation", None, "R2A-pres", False),
    "shopping": (6500, None, "Shopping", "R2A-shop", False),
    "sleeping": (15500, None, "Asleep", "R2A-sleep", False),
    "spectator": (9500, None, "At an event", "R2A-spect", False),
    "steering": (12500, None, "Driving", "R2A-steer", False),
    "travel": (15500, "out-of-office", None, "R2A-travl", True),
    "tv": (6500, None, "Watching television", "R2A-tv", False),
    "vacation": (15500, "out-of-office", None, "R2A-vac", True),
    "working": (6500, None, "Working", "R2A-work", False),
    "worship": (9500, None, "At worship", "R2A-worsh", False),
    "unknown": (3500, None, None, "R2A-unk1", False),
    # Not registered, but sent.
    "lunch": (15500, None, "At lunch", "R2A-lunch", False),
}

# Policy: texts of other that name a state.
OTHERS = {
    "do not disturb": (9500, None, None, "OTH-01"),
    "dnd": (9500, None, None, "OTH-02"),
    "be right back": (12500, None, None, "OTH-03"),
    "brb": (12500, None, None, "OTH-04"),
    "out of office": (15500, "out-of-office", None, "OTH-05"),
    "off work": (15500, "off-work", None, "OTH-06"),
    "urgent interruptions only": (6900, "urgent-interruptions-only", None, "OTH-07"),
    "in a conference": (7000, "in-a-conference", None, "OTH-08"),
    "in a conference call": (7000, "in-a-conference", None, "OTH-09"),
    "in a call": (6500, "on-the-phone", None, "OTH-10"),
    "on the phone": (6500, "on-the-phone", None, "OTH-11"),
    "presenting": (9500, "in-presentation", None, "OTH-12"),
    "in a meeting": (6500, "in-a-meeting", None, "OTH-13"),
    "busy": (6500, None, None, "OTH-14"),
    "away": (15500, None, None, "OTH-15"),
    "available": (3500, None, None, "OTH-16"),
    "out to lunch": (15500, None, "Out to lunch", "OTH-17"),
    "appear offline": (18500, None, None, "OTH-18"),
    "invisible": (18500, None, None, "OTH-19"),
}

# RFC 4480 3.2, 3.4, 3.8, 3.10, 3.11: registered values.
MOODS = """afraid amazed angry annoyed anxious ashamed bored brave calm cold confused contented cranky curious depressed disappointed
disgusted distracted embarrassed excited flirtatious frustrated grumpy guilty happy hot humbled humiliated hungry hurt impressed in_awe
in_love indignant interested invincible jealous lonely mean moody nervous neutral offended playful proud relieved remorseful restless sad
sarcastic serious shocked shy sick sleepy stressed surprised thirsty worried unknown""".split()
RELATIONSHIPS = "assistant associate family friend self supervisor unknown".split()
SERVICE_CLASSES = "courier electronic freight in-person postal unknown".split()
SPHERES = "home work unknown".split()

# RFC 4589 5, and (policy) the words of endpointLocation; None: the place in plain words.
PLACES = {
    "aircraft": "mobile",
    "airport": None,
    "arena": None,
    "automobile": "mobile",
    "bank": None,
    "bar": None,
    "bicycle": "mobile",
    "bus": "mobile",
    "bus-station": None,
    "cafe": None,
    "classroom": None,
    "club": None,
    "construction": None,
    "convention-center": None,
    "government": None,
    "hospital": None,
    "hotel": None,
    "industrial": None,
    "library": None,
    "motorcycle": "mobile",
    "office": "office",
    "outdoors": None,
    "parking": None,
    "place-of-worship": None,
    "prison": None,
    "public": None,
    "public-transport": "mobile",
    "residence": "home",
    "restaurant": None,
    "school": None,
    "shopping-area": None,
    "stadium": None,
    "store": None,
    "street": None,
    "theater": None,
    "train": "mobile",
    "train-station": None,
    "truck": "mobile",
    "underway": "mobile",
    "unknown": "none",
    "warehouse": None,
    "water": None,
    "watercraft": "mobile",
    # As the registered schema spells them, and of late drafts.
    "bicyle": "mobile",
    "motorcyle": "mobile",
    "cycle": "mobile",
}
# Means of transport whose name is lost.
VEHICLES = "aircraft automobile bicycle bus motorcycle train truck watercraft public-transport".split()


def location_of(place):
    word = PLACES[place]
    return word or place.replace("-", " ").capitalize()

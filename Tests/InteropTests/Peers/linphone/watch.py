#!/usr/bin/env python3
"""watch.py RC: liblinphone without a window watches its friends, and prints what its user interfaces are given, one JSON object a line.

Its command line clients have no command that shows presence. Runs until it is killed.
"""
import ctypes
import json
import sys
import time

library = ctypes.CDLL("liblinphone.so.10")
pointer = ctypes.c_void_p

# LinphonePresenceActivityType and LinphoneConsolidatedPresence of liblinphone 5.1.
ACTIVITIES = (
    "appointment away breakfast busy dinner holiday in-transit looking-for-work lunch meal meeting on-the-phone other performance"
    " permanent-absence playing presentation shopping sleeping spectator steering travel tv unknown vacation working worship"
).split()
CONSOLIDATED = ["online", "busy", "do-not-disturb", "offline"]


def function(name, result, *arguments):
    found = getattr(library, name)
    found.restype = result
    found.argtypes = arguments
    return found


factory = function("linphone_factory_get", pointer)()
log = function("linphone_logging_service_get", pointer)()
function("linphone_logging_service_set_log_level", None, pointer, ctypes.c_int)(log, 32)
core = function("linphone_factory_create_core_3", pointer, pointer, ctypes.c_char_p, ctypes.c_char_p, pointer)(
    factory, sys.argv[1].encode(), None, None
)
callbacks = function("linphone_factory_create_core_cbs", pointer, pointer)(factory)
model_of = function("linphone_friend_get_presence_model", pointer, pointer)
basic_of = function("linphone_presence_model_get_basic_status", ctypes.c_int, pointer)
activity_count = function("linphone_presence_model_get_nb_activities", ctypes.c_uint, pointer)
nth_activity = function("linphone_presence_model_get_nth_activity", pointer, pointer, ctypes.c_uint)
activity_type = function("linphone_presence_activity_get_type", ctypes.c_int, pointer)
activity_text = function("linphone_presence_activity_get_description", ctypes.c_char_p, pointer)
consolidated_of = function("linphone_presence_model_get_consolidated_presence", ctypes.c_int, pointer)


@ctypes.CFUNCTYPE(None, pointer, pointer)
def presence_received(_, friend):
    model = model_of(friend)
    if not model:
        return
    activities = [nth_activity(model, index) for index in range(activity_count(model))]
    texts = [activity_text(activity) for activity in activities]
    seen = {
        "basic": ["open", "closed"][basic_of(model)],
        "activities": [ACTIVITIES[activity_type(activity)] for activity in activities],
        "texts": [text.decode("utf-8", "replace") for text in texts if text],
        "consolidated": CONSOLIDATED[consolidated_of(model)],
    }
    print(json.dumps(seen, sort_keys=True), flush=True)


function("linphone_core_cbs_set_notify_presence_received", None, pointer, pointer)(
    callbacks, ctypes.cast(presence_received, pointer)
)
function("linphone_core_add_callbacks", None, pointer, pointer)(core, callbacks)
function("linphone_core_start", ctypes.c_int, pointer)(core)
# The machine that tests run on may have no network but loopback.
function("linphone_core_set_network_reachable", None, pointer, ctypes.c_int)(core, 1)
iterate = function("linphone_core_iterate", None, pointer)
while True:
    iterate(core)
    time.sleep(0.02)

"""Both tables of MS-PRES 3.7.5, at both edges of each class, with no token, on-the-phone and another token."""

import tables
import payloads as xml

BOB = "sip:bob@contoso.com"
OTHER_TOKENS = ["in-a-meeting", "urgent-interruptions-only", "x-own-token"]


def losses(number, token, lossy, row, said_token, number_row="FLD-number"):
    found = [row] if row in lossy else []
    if not found and number not in tables.USUAL:
        found.append(number_row)
    if token and not said_token:
        found.append("FLD-token")
    return found


def write(suite):
    for index, number in enumerate(tables.edges()):
        other = OTHER_TOKENS[index % len(OTHER_TOKENS)]
        for label, token in (("none", None), ("phone", "on-the-phone"), ("other", other)):
            kind = tables.CLASSES[tables.class_of(number)]
            source = xml.legacy(number, token).document
            said = f"{number} ({kind}) with token {token}" if token else f"{number} ({kind}) without token"
            basic, activity, row = tables.to_pidf(number, token)

            # For readers that know busy and not on-the-phone.
            names = ["busy", activity] if activity == "on-the-phone" else [activity]
            people = [xml.person(xml.activities(*names))] if activity else []
            suite.case(
                f"table-a/{number}-{label}-rpid",
                f"{said} is {basic}, {activity or 'no activity'}",
                ["MS-PRES 3.7.5.4", "RFC 4480 3.2"],
                "legacy-interop",
                "pidf",
                source(),
                xml.pidf(BOB, xml.tuple_(basic, contact=BOB), *people).document(),
                entity=BOB,
                rows=[row],
                input_name=f"{number}-{label}",
                loss=losses(number, token, tables.LOSSY_TO_PIDF, row, activity == token),
            )
            suite.case(
                f"table-a/{number}-{label}-draft",
                f"{said} is {basic}, {activity or 'no activity'}, in one tuple with draft RPID",
                ["MS-PRES 3.7.5.4", "MS-PRES 2.2.2.8"],
                "legacy-interop",
                "pidf",
                source(),
                xml.pidf(BOB, xml.tuple_(basic, status=xml.draft_status(activity), id="0")).document(),
                entity=BOB,
                profile="rpid-draft",
                rows=[row],
                input_name=f"{number}-{label}",
                loss=losses(number, token, tables.LOSSY_TO_PIDF, row, activity == token),
            )

            avail, text, available, active, row = tables.to_msrtc(number, token)
            suite.case(
                f"table-b/{number}-{label}",
                f"{said} is state {avail} '{text}', aggregates {available} and {active}",
                ["MS-PRES 3.7.5.5", "MS-PRES 9"],
                "legacy-interop",
                "msrtc",
                source(),
                xml.msrtc(BOB[4:], available, active, avail, text).document(),
                entity=BOB,
                rows=[row],
                input_name=f"{number}-{label}",
                loss=losses(number, None, tables.LOSSY_TO_MSRTC, row, True),
            )

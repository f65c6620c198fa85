"""Uses the console with a real browser, as an operator does, mostly by keyboard.

usage: console.py BASE_URL SIP_PORT DOCUMENT REPORT SCREENSHOTS PROFILE

DOCUMENT is a PIDF document; REPORT is what `isthmus convert --to categories --report json` says of it. Prints `following` when the page of
the passing messages is connected; a presence change is expected then. Prints each check that holds, and ends with 1 at the first that does
not.
"""

import json
import socket
import sys
import time
import urllib.error
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

base, sip_port, document, report, screenshots, profile = sys.argv[1:7]
SECRET = "9f86d081884c7d65"


def check(holds, what):
    print(("ok: " if holds else "FAILED: ") + what, flush=True)
    if not holds:
        print(driver.page_source, file=sys.stderr)
        driver.quit()
        sys.exit(1)


options = webdriver.ChromeOptions()
for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={profile}",
                 "--disable-background-networking", "--disable-component-update", "--no-first-run", "--window-size=1280,900"):
    options.add_argument(argument)
options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
wait = WebDriverWait(driver, 20)


def screenshot(name):
    driver.save_screenshot(f"{screenshots}/{name}.png")


def focused():
    return driver.switch_to.active_element


def tab_to(text, most=40):
    """Presses Tab until an element with this text has the focus."""
    for _ in range(most):
        focused().send_keys(Keys.TAB)
        if focused().text.strip() == text:
            return
    check(False, f"Tab reaches {text!r}")


# All pages, from one to the next by keyboard.
driver.get(base + "/")
for name in ("Overview", "Partners", "Presentities", "Subscriptions", "Why", "Live", "Mapping"):
    if name != "Overview":
        tab_to(name)
        focused().send_keys(Keys.ENTER)
    wait.until(lambda d: d.find_element(By.TAG_NAME, "h1").text == name)
    screenshot(name.lower())
check(True, "each page opens from the one before by Tab and Enter")

driver.get(base + "/")
focused().send_keys(Keys.TAB)
check(focused().text == "To the content", "the first Tab offers to skip the links")

# A status change and a request with credentials arrive on the live page, which is not loaded again.
driver.get(base + "/console/live")
wait.until(lambda d: d.find_element(By.ID, "state").text[:1].isdigit())
driver.execute_script("window.isSamePage = true")
rows = driver.find_elements(By.CSS_SELECTOR, "[role=log] tbody tr")
print("following", flush=True)
wait.until(lambda d: any("NOTIFY" in s.text for s in d.find_elements(By.CSS_SELECTOR, "[role=log] tbody tr summary")[len(rows):]))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
    peer.bind(("127.0.0.1", 0))
    port = peer.getsockname()[1]
    peer.sendto((f"OPTIONS sip:edge1.example.net SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:{port};branch=z9hG4bKbrowser\r\nMax-Forwards: 70\r\n"
                 "From: <sip:bob@contoso.com>;tag=b\r\nTo: <sip:edge1.example.net>\r\nCall-ID: browser\r\nCSeq: 1 OPTIONS\r\n"
                 f"Authorization: Digest username=\"bob\",\r\n response=\"{SECRET}\"\r\nContent-Length: 0\r\n\r\n").encode(),
                ("127.0.0.1", int(sip_port)))
wait.until(lambda d: any("OPTIONS" in s.text for s in d.find_elements(By.CSS_SELECTOR, "[role=log] summary")))
check(driver.execute_script("return window.isSamePage") is True, "a status change shows on the live page without loading it again")
check("Authorization: Digest ..." in driver.page_source, "the scheme of credentials is shown")
check(SECRET not in driver.page_source, "credentials are not")
screenshot("live-change")

# From the list of subscriptions to the reasons, and to the message that told the watcher.
driver.get(base + "/console/subscriptions")
tab_to("sip:bob@contoso.com")
focused().send_keys(Keys.ENTER)
wait.until(lambda d: d.find_element(By.TAG_NAME, "h1").text == "Why")
check("rpid-to-availability" in driver.find_element(By.CSS_SELECTOR, ".box.row").text, "why names the row of the tables")
check("udp:127.0.0.1" in driver.find_element(By.CSS_SELECTOR, ".box.upstream").text, "why names the upstream subscription")
details = [d for d in driver.find_elements(By.CSS_SELECTOR, "table.ladder details") if "NOTIFY" in d.text]
check(details, "the ladder has the notifications")
mapped = [d for d in details if "Mapped" in d.get_attribute("textContent")]
check(mapped, "a NOTIFY of the remote domain has the one that it was mapped to beside it")
summary = mapped[-1].find_element(By.TAG_NAME, "summary")
driver.execute_script("arguments[0].focus()", summary)
focused().send_keys(Keys.ENTER)
wait.until(lambda d: mapped[-1].get_attribute("open") is not None)
check("application/pidf+xml" in mapped[-1].text and "msrtc-event-categories" in mapped[-1].text, "Enter opens both messages of an arrow")
screenshot("why-subscription")

# A pasted document: the same rows and losses as those of `isthmus convert`.
with open(document, encoding="utf-8") as file:
    text = file.read()
with open(report, encoding="utf-8") as file:
    expected = json.load(file)
driver.get(base + "/console/mapping")
area = driver.find_element(By.ID, "document")
area.click()
driver.execute_script("arguments[0].value = arguments[1]", area, text)
tab_to("Convert")
focused().send_keys(Keys.ENTER)
wait.until(lambda d: d.find_elements(By.ID, "categories"))
section = driver.find_element(By.ID, "categories")
shown = [cell.get_attribute("textContent") for cell in section.find_elements(By.CSS_SELECTOR, "tbody th")]
check(shown == expected["rows"], f"the rows are those of convert: {shown}")
losses = [item.text for item in section.find_elements(By.CSS_SELECTOR, "li.loss")]
wanted = [f'{l["field"]} "{l["value"]}": {l["reason"]} [{l["row"]}]' for l in expected["losses"]]
check(losses == wanted, f"the losses are those of convert: {losses}")
screenshot("mapping-document")
driver.find_element(By.ID, "link").click()
wait.until(lambda d: "document=" in d.current_url)
again = [c.get_attribute("textContent") for c in driver.find_elements(By.CSS_SELECTOR, "#categories tbody th")]
check(again == expected["rows"], "the link keeps the conversion")

# Nothing from elsewhere, no error, and nothing for a page that came by another name.
hosts = set()
for entry in driver.get_log("performance"):
    message = json.loads(entry["message"])["message"]
    if message["method"] == "Network.requestWillBeSent":
        url = message["params"]["request"]["url"]
        if not url.startswith(("data:", "blob:", "chrome:", "about:")):
            hosts.add("/".join(url.split("/")[:3]))
check(hosts == {base}, f"requests go to the console alone: {sorted(hosts)}")
errors = [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
check(not errors, f"the browser reports no error: {errors}")
request = urllib.request.Request(base + "/console/why", headers={"Host": "rebound.example.org"})
try:
    status = urllib.request.urlopen(request, timeout=10).status
except urllib.error.HTTPError as error:
    status = error.code
check(status == 403, f"a foreign Host is answered 403: {status}")
driver.quit()
print("done", flush=True)

/// Style and script of the console.
enum ConsoleAssets {
    static let style = """
        :root{color-scheme:light dark;--line:#8886;--soft:#8881;--good:#177a3a;--bad:#b3261e;--link:#0b57d0}
        @media(prefers-color-scheme:dark){:root{--good:#6dd58c;--bad:#f2b8b5;--link:#a8c7fa}}
        *{box-sizing:border-box}
        body{font:15px/1.45 system-ui,sans-serif;margin:0}
        a{color:var(--link)}
        .skip{position:absolute;left:-99em}.skip:focus{left:1em;top:.5em}
        nav{border-bottom:1px solid var(--line);padding:0 1rem}
        nav ul{display:flex;flex-wrap:wrap;gap:1rem;list-style:none;padding:0;margin:.7rem 0}
        nav a[aria-current]{font-weight:700;text-decoration:none}
        main{padding:0 1rem 3rem;max-width:90rem}
        h1{font-size:1.4rem}h2{font-size:1.05rem;margin:1rem 0 .3rem}h3{font-size:.9rem;margin:.3rem 0}
        form{display:flex;flex-wrap:wrap;gap:.6rem 1rem;align-items:end;margin:.5rem 0 1rem}
        label{display:flex;flex-direction:column;font-size:.85rem}
        textarea{flex:1 1 100%;font:13px/1.4 ui-monospace,monospace}
        input,select,button,textarea{font-size:.95rem;padding:.25rem .4rem}
        :focus-visible{outline:3px solid var(--link);outline-offset:1px}
        .wide{overflow-x:auto}
        table{border-collapse:collapse;margin:.3rem 0 1.2rem;width:100%}
        caption{text-align:left;font-weight:600;padding:.3rem 0}
        th,td{text-align:left;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top;font-weight:400}
        thead th{font-weight:600}
        .good{color:var(--good)}.bad{color:var(--bad);font-weight:600}
        .chain{display:flex;flex-wrap:wrap;gap:.7rem}
        .box{border:1px solid var(--line);border-radius:.4rem;padding:.2rem .8rem .5rem;flex:1 1 22rem;background:var(--soft)}
        .box ul{margin:.2rem 0;padding-left:1.1rem;overflow-wrap:anywhere}
        .box.problem{border-color:var(--bad)}
        .forms{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(34rem,100%),1fr));gap:1rem}
        pre{background:var(--soft);padding:.6rem;overflow:auto;max-height:30rem;white-space:pre-wrap;overflow-wrap:anywhere}
        .pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(28rem,100%),1fr));gap:.6rem}
        summary{cursor:pointer}
        """

    static let live = #"""
        const form = document.querySelector("#filter"), state = document.querySelector("#state");
        const rows = document.querySelector("[role=log] tbody"), pause = document.querySelector("#pause");
        const kept = 1000;
        let waiting = [], texts = [], seen = 0, skipped = 0, isPaused = false;
        const shown = () => {
          state.textContent = `${seen} messages${skipped ? `, ${skipped} more were too many to show` : ""}`
            + (isPaused ? `; paused, ${waiting.length} wait` : "");
        };
        const cell = (row, text) => row.appendChild(document.createElement("td")).textContent = text;
        const add = message => {
          const row = document.createElement("tr");
          const time = document.createElement("th");
          time.scope = "row";
          time.textContent = message.time;
          row.append(time);
          cell(row, message.received ? "from" : "to");
          cell(row, message.peer);
          const details = document.createElement("details");
          details.appendChild(document.createElement("summary")).textContent = message.summary;
          details.appendChild(document.createElement("pre")).textContent = message.text;
          row.appendChild(document.createElement("td")).append(details);
          rows.append(row);
          texts.push(`${message.time} ${message.received ? "from" : "to"} ${message.peer}\n${message.text}\n`);
          while (rows.children.length > kept) { rows.firstElementChild.remove(); }
          while (texts.length > kept) { texts.shift(); }
        };
        const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
        const events = new EventSource(`/console/live/events?${query}`);
        state.textContent = "Connecting.";
        events.onopen = shown;
        events.onerror = () => { state.textContent = "The connection is lost; it is tried again."; };
        events.addEventListener("message", event => {
          seen++;
          const message = JSON.parse(event.data);
          if (isPaused) { waiting.push(message); waiting.splice(0, waiting.length - kept); } else { add(message); }
          shown();
        });
        events.addEventListener("skipped", event => { skipped += Number(event.data); shown(); });
        pause.onclick = () => {
          isPaused = !isPaused;
          pause.setAttribute("aria-pressed", isPaused);
          pause.textContent = isPaused ? "Go on" : "Pause";
          if (!isPaused) { waiting.splice(0).forEach(add); }
          shown();
        };
        document.querySelector("#save").onclick = () => {
          const link = document.createElement("a");
          link.href = URL.createObjectURL(new Blob([texts.join("\n")], { type: "text/plain" }));
          link.download = "messages.txt";
          link.click();
          URL.revokeObjectURL(link.href);
        };
        """#
}

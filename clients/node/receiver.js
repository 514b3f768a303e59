// A receiver of webhooks to start from: it verifies, stores, answers, and only then works.
//
//     WEBHOOK_SECRET=... node receiver.js [PORT]
//
// Node 16 or newer, no packages; verify.js lies beside it. WEBHOOK_SECRET may hold several secrets,
// with spaces between: of several webhooks, or the old and the new one while you rotate. What has
// arrived is kept in received.jsonl, or in the file that WEBHOOK_STORE names.

const fs = require("node:fs");
const http = require("node:http");
const { verify } = require("./verify.js");

const SECRETS = (process.env.WEBHOOK_SECRET ?? "").split(/\s+/).filter(Boolean);
const LARGEST_BODY = 1024 * 1024;
const STATUS_TYPES = ["tracking.simple", "ecommerceTracking"];

// Your code. `late`: a newer event of this type came before, of the same shipment or ticket. Book a
// late surcharge, but do not let a late status replace a newer one.
function work(event, subject, late) {
  console.log(late ? "late" : "verified", event.type, subject, event.data.status ?? "");
}

// What has arrived, in a file, so that a restart loses nothing that was answered with 2xx.
class Inbox {
  constructor(file) {
    this.known = new Set(); // ids; those older than a month may be forgotten
    this.waiting = [];
    this.highest = new Map(); // the highest sequence of each topic
    this.file = fs.openSync(file, "a+");
    const text = fs.readFileSync(file, "utf8");
    const whole = text.slice(0, text.lastIndexOf("\n") + 1); // the last line may be cut off
    fs.ftruncateSync(this.file, Buffer.byteLength(whole));
    const lines = whole.split("\n").slice(0, -1).map((line) => JSON.parse(line));
    const done = new Set(lines.map((line) => line.done));
    for (const line of lines) {
      if (line.done) continue;
      this.known.add(line.id);
      if (done.has(line.id)) this.isLate(topicOf(JSON.parse(line.body)), line.sequence);
      else this.waiting.push(line);
    }
  }

  // Store a delivery; false if it is a repeat.
  add(id, sequence, body) {
    if (this.known.has(id)) return false;
    const line = { id, sequence, body };
    this.write(line);
    this.known.add(id);
    this.waiting.push(line);
    setImmediate(() => this.workOff());
    return true;
  }

  // Work on what is stored, in the order of arrival.
  workOff() {
    while (this.waiting.length > 0) {
      const { id, sequence, body } = this.waiting[0];
      const event = JSON.parse(body);
      const subject = subjectOf(event);
      const late = this.isLate(topicOf(event), sequence);
      try {
        work(event, subject, late);
      } catch (error) {
        // It stays first in the row: what comes behind it may build upon it.
        console.error(error);
        setTimeout(() => this.workOff(), 5000);
        return;
      }
      this.write({ done: id });
      this.waiting.shift();
    }
  }

  isLate(topic, sequence) {
    const late = sequence < (this.highest.get(topic) ?? 0);
    if (!late) this.highest.set(topic, sequence);
    return late;
  }

  write(line) {
    fs.writeSync(this.file, JSON.stringify(line) + "\n");
    fs.fsyncSync(this.file);
  }
}

// The ticket in news of tickets, else the shipment: the sequence counts for it.
function subjectOf({ data }) {
  return data.ticket_id ? `ticket ${data.ticket_id}` : `shipment ${data.shipment_id}`;
}

// The events to compare the sequence with: same subject, same type. Webhooks do not wait for each
// other: a status may come after a newer surcharge and still be the newest status. Types 3 and 4
// tell the same statuses, so they count together.
function topicOf(event) {
  const kind = STATUS_TYPES.includes(event.type) ? "status" : event.type;
  return `${kind} of ${subjectOf(event)}`;
}

function receive(inbox, headers, body) {
  if (!SECRETS.some((secret) => verify(secret, headers, body))) {
    console.log("refused: the signature is wrong or old");
    return [401, "bad signature"];
  }
  if (headers["x-webhook-test"]) {
    console.log("tested: the signature is good, and nothing has happened");
    return [200, "ok"];
  }
  const id = headers["x-webhook-id"];
  if (!inbox.add(id, Number(headers["x-webhook-sequence"]), body.toString())) {
    console.log("repeated", id);
  }
  return [200, "ok"];
}

if (SECRETS.length === 0) {
  console.error("Set WEBHOOK_SECRET to the secret that POST /webhooks answered, or that listen shows.");
  process.exit(1);
}
const inbox = new Inbox(process.env.WEBHOOK_STORE ?? "received.jsonl");
const server = http.createServer((request, response) => {
  const parts = [];
  let size = 0;
  request.on("data", (part) => {
    size += part.length;
    if (size <= LARGEST_BODY) parts.push(part);
  });
  request.on("end", () => {
    const tooLarge = size > LARGEST_BODY;
    const [status, text] = tooLarge
      ? [413, "too large"]
      : receive(inbox, request.headers, Buffer.concat(parts));
    response.writeHead(status).end(text);
  });
});
server.listen(Number(process.argv[2] ?? 3000), "127.0.0.1", () => {
  console.log(`receiving at http://127.0.0.1:${server.address().port}`);
  inbox.workOff();
});

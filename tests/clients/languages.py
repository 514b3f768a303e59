"""The functions of clients/ that verify, each given many questions in one process."""

import base64
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.programs import program
from tools.dev.bootstrap import ROOT

CLIENTS = ROOT / "clients"

SECRET = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"
TIMESTAMP = 1767312000123
BODY = (
    '{"type":"tracking.simple","created_at":"2026-01-02T00:00:00.000Z","data":{"shipment_id":4101,'
    '"tracking_number":"TEST0004101","carrier_name":"acme","status":"delivered",'
    '"status_description":"Left at door","location":"León, MX"}}'
)
SIGNATURE = "v1=97c534940c81f2266668b398d93cbdd8838ad72e71269f51c92615c838a0ccc8"
HEADERS = {
    "X-Webhook-Event": "tracking.simple",
    "X-Webhook-Timestamp": str(TIMESTAMP),
    "X-Webhook-Signature": SIGNATURE,
}


@dataclass(frozen=True)
class Question:
    """One request; the known one unless fields say otherwise."""

    headers: dict[str, str] = field(default_factory=lambda: dict(HEADERS))
    body: bytes = BODY.encode()
    secret: str = SECRET
    now_ms: int = TIMESTAMP

    def as_json(self) -> dict[str, object]:
        body = base64.b64encode(self.body).decode()
        return {
            "secret": self.secret,
            "headers": self.headers,
            "body": body,
            "now": self.now_ms,
        }


class Language(NamedTuple):
    """A file of clients/, its interpreter, and the program that reads questions for it.

    The program answers true or false for each, or "raised".
    """

    file: str
    interpreter: str
    driver_name: str
    driver: str

    def verdicts(self, questions: Sequence[Question], folder: Path) -> list[bool | str]:
        """Answer each question. Skips the test if the interpreter is missing."""
        interpreter = sys.executable if self.interpreter == "python" else program(self.interpreter)
        shutil.copy(CLIENTS / self.file, folder)
        (folder / self.driver_name).write_text(self.driver)
        start = [interpreter, self.driver_name]
        if self.interpreter == "go":
            # A module of our own needs a package in a separate folder.
            (folder / "go.mod").write_text("module asked\n\ngo 1.17\n")
            (folder / "webhook").mkdir()
            shutil.move(folder / "verify.go", folder / "webhook")
            start = [interpreter, "run", "."]
        ran = subprocess.run(
            start,
            cwd=folder,
            input=json.dumps([each.as_json() for each in questions]),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        answers: list[bool | str] = json.loads(ran.stdout)
        return answers


LANGUAGES = [
    Language(
        "python/verify.py",
        "python",
        "ask.py",
        """
import base64, json, sys
from verify import verify

def ask(told):
    try:
        return verify(told["secret"], told["headers"], base64.b64decode(told["body"]), told["now"])
    except ValueError:
        return "raised"

print(json.dumps([ask(told) for told in json.load(sys.stdin)]))
""",
    ),
    Language(
        "node/verify.js",
        "node",
        "ask.js",
        """
const { verify } = require("./verify.js");

function ask(told) {
  const entries = Object.entries(told.headers);
  const headers = Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
  try {
    return verify(told.secret, headers, Buffer.from(told.body, "base64"), told.now);
  } catch (error) {
    return "raised";
  }
}

const questions = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(questions.map(ask)));
""",
    ),
    Language(
        "php/verify.php",
        "php",
        "ask.php",
        """<?php
require 'verify.php';

function ask(array $told)
{
    try {
        $body = base64_decode($told['body']);
        return verify($told['secret'], $told['headers'], $body, $told['now']);
    } catch (InvalidArgumentException $error) {
        return 'raised';
    }
}

echo json_encode(array_map('ask', json_decode(file_get_contents('php://stdin'), true)));
""",
    ),
    Language(
        "go/verify.go",
        "go",
        "ask.go",
        """package main

import (
	"asked/webhook"
	"encoding/json"
	"net/http"
	"os"
	"time"
)

type question struct {
	Secret  string
	Headers map[string]string
	Body    []byte
	Now     int64
}

func ask(told question) (answer interface{}) {
	defer func() {
		if recover() != nil {
			answer = "raised"
		}
	}()
	header := http.Header{}
	for name, value := range told.Headers {
		header.Set(name, value)
	}
	return webhook.Verify(told.Secret, header, told.Body, time.UnixMilli(told.Now))
}

func main() {
	var questions []question
	if err := json.NewDecoder(os.Stdin).Decode(&questions); err != nil {
		panic(err)
	}
	answers := []interface{}{}
	for _, told := range questions {
		answers = append(answers, ask(told))
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		panic(err)
	}
}
""",
    ),
    Language(
        "ruby/verify.rb",
        "ruby",
        "ask.rb",
        """
require "json"
require_relative "verify"

def ask(told)
  verify(told["secret"], told["headers"], told["body"].unpack1("m"), told["now"])
rescue ArgumentError
  "raised"
end

puts JSON.generate(JSON.parse($stdin.read).map { |told| ask(told) })
""",
    ),
]

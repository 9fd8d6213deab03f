#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Perfetto's protobuf, decoded by Google's library with the numbers of the
public format, has the tracks, slices, flows and values of the JSON."""
import os
import subprocess
import sys

from trace_file import FOR, Trace, check, equal, follow_flows, read_json, run, \
    skip, target

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError:
    # Debian's package belongs to Debian's Python.
    if "SENNIT_AGAIN" in os.environ or not os.path.exists("/usr/bin/python3"):
        skip("no python3-protobuf")
    sys.exit(subprocess.run(["/usr/bin/python3", *sys.argv], env={
        **os.environ, "SENNIT_AGAIN": "1"}).returncode)

UINT64, INT32, STRING, UINT32, INT64, FIXED64 = 4, 5, 9, 13, 3, 6
# Message: field: (number, type or message, is repeated)
MESSAGES = {
    "Process": {"pid": (1, INT32), "process_name": (6, STRING)},
    "Thread": {"pid": (1, INT32), "tid": (2, INT32), "thread_name": (5, STRING)},
    "Counter": {"unit": (3, INT32)},
    "Track": {"uuid": (1, UINT64), "name": (2, STRING), "process": (3, "Process"),
              "thread": (4, "Thread"), "parent_uuid": (5, UINT64),
              "counter": (8, "Counter")},
    "Annotation": {"uint_value": (3, UINT64), "name": (10, STRING)},
    "Event": {"debug_annotations": (4, "Annotation", True), "type": (9, INT32),
              "track_uuid": (11, UINT64), "categories": (22, STRING, True),
              "name": (23, STRING), "counter_value": (30, INT64),
              "flow_ids": (47, FIXED64, True),
              "terminating_flow_ids": (48, FIXED64, True)},
    "Packet": {"timestamp": (8, UINT64), "sequence": (10, UINT32),
               "track_event": (11, "Event"), "sequence_flags": (13, UINT32),
               "track_descriptor": (60, "Track")},
    "Trace": {"packet": (1, "Packet", True)},
}
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def make_class():
    file = descriptor_pb2.FileDescriptorProto(
        name="perfetto_test.proto", package="t", syntax="proto2")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, *repeated) in fields.items():
            f = message.field.add(name=field, number=number,
                                  label=3 if repeated else 1)
            if isinstance(kind, str):
                f.type, f.type_name = 11, ".t." + kind
            else:
                f.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptor = pool.FindMessageTypeByName("t.Trace")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)


class Decoded:
    """Reads the packets in order, as a viewer does."""

    def __init__(self, data):
        trace = make_class()()
        trace.ParseFromString(data)
        equal(trace.packet[0].sequence_flags, 1, "the first packet's flags")
        self.tracks, self.open = {}, {}
        self.slices, self.values, self.marks = [], [], []
        self.starts, self.ends = {}, {}
        for p in trace.packet:
            equal(p.sequence, 1, "the sequence")
            if p.HasField("track_descriptor"):
                d = p.track_descriptor
                check(d.uuid and d.uuid not in self.tracks, "track", d.uuid)
                check(not d.parent_uuid or d.parent_uuid in self.tracks, d)
                self.tracks[d.uuid] = d.name or d.process.process_name
            elif p.HasField("track_event"):
                self.play(p.timestamp, p.track_event)
        check(not any(self.open.values()), "slices without an end")

    def play(self, time, e):
        track = self.tracks[e.track_uuid]
        stack = self.open.setdefault(e.track_uuid, [])
        if e.type == BEGIN:
            stack.append((time, e))
            for flow in e.terminating_flow_ids:
                check(flow not in self.ends, "two ends of flow", flow)
                self.ends[flow] = (time, e.name)
        elif e.type == END:
            begin, b = stack.pop()
            self.slices.append((track, begin, time - begin, b.categories[0],
                                b.name))
        elif e.type == COUNTER:
            self.values.append((track, time, e.counter_value))
        else:
            equal(e.type, INSTANT, "the type")
            self.marks.append((track, time, e.name))
            for flow in e.flow_ids:
                check(flow not in self.starts, "two begins of flow", flow)
                self.starts[flow] = (time, e.name)

    def flows(self):
        equal(set(self.starts), set(self.ends), "flows with an end")
        return sorted((self.starts[i][1], self.starts[i][0], *self.ends[i])
                      for i in self.starts)


def ns(us):
    return round(us * 1000)


def compare(data):
    """Returns the number of slices and flows."""
    perfetto, events = Decoded(run("perfetto", "-", data=data)), read_json(data)
    track = {(e["pid"], e["tid"]): e["args"]["name"] for e in events
             if e["ph"] == "M" and e["name"] == "thread_name"}

    def where(e):
        return track[e["pid"], e["tid"]]

    slices = [(where(e), ns(e["ts"]), ns(e["dur"]), e["cat"], e["name"])
              for e in events if e["ph"] == "X"]
    marks = [(where(e), ns(e["ts"]), e["name"]) for e in events
             if e["ph"] == "i"]
    values = [(e["name"], ns(e["ts"]), e["args"]["value"]) for e in events
              if e["ph"] == "C"]
    flows = follow_flows(events)
    equal(sorted(perfetto.slices), sorted(slices), "slices")
    equal(sorted(perfetto.marks), sorted(marks), "marks")
    equal(sorted(perfetto.values), sorted(values), "values")
    equal(perfetto.flows(), sorted((name, ns(a), ns(b), s)
                                   for name, a, b, s in flows), "flows")
    return len(slices), len(flows)


def busy_trace(rounds):
    t = Trace(workers=2)
    t.function(1, "producer \u00e9 \"quoted\" <b> \\")
    t.function(2, b"consumer\xff\n\x1b[2J")
    t.name(1, "span;with semicolon")
    t.name(2, "depth")
    a, b, others = t.ring(0), t.ring(1), t.ring(2, "OTHERS")
    for i in range(rounds):
        at, flow = 2000000 + 10000 * i, i + 1
        a.SPAWN(at, 0, 2, flow).TASK_BEGIN(at + 100, 1, 1, 0)
        b.TASK_BEGIN(at + 1000, 5, 2, flow).SPAN_BEGIN(at + 1100, 5, 1)
        b.WAIT(at + 1200, 5, b=flow, detail=FOR["CHANNEL"]).PARK(at + 1300)
        a.VALUE(at + 1400, 1, 2, i)
        a.WAKE(at + 1500, 1, target(1, 5), flow).TASK_END(at + 1600, 1, 1)
        b.UNPARK(at + 1700).RESUME(at + 1800, 5, b=flow)
        b.WAIT(at + 1900, 5, b=flow + 2**40, detail=FOR["CALL"])
        others.CALL_BEGIN(at + 2000, 77, 3, flow + 2**40)
        others.CALL_END(at + 2100, 77, 3, flow + 2**40)
        others.WAKE(at + 2110, 77, target(1, 5), flow + 2**40)
        b.RESUME(at + 3000, 5, b=flow + 2**40)
        b.WAIT(at + 3100, 5, b=flow + 2**41).RESUME(at + 3200, 5, b=flow + 2**41)
        b.SPAN_END(at + 3300, 5).TASK_END(at + 3400, 5, 2)
    return t.bytes()


for file in sys.argv[1:]:
    print(file, compare(open(file, "rb").read()))
if len(sys.argv) == 1:
    if subprocess.run([os.environ["SENNIT_TRACE"], "perfetto", "-"],
                      input=Trace().bytes(), capture_output=True).returncode:
        skip("sennit-trace was built without libprotobuf-c")
    slices, flows = compare(busy_trace(50))
    # Of each round: the spawn, both wakes and the call.
    equal(flows, 200, "the number of flows")
    compare(Trace().bytes())

// recording_test - what happened, told by events, happens once more; and what the events do not tell.
#include "tests/simulate/fixture.h"

namespace fq::test {

TEST_CASE("what happened is told as it was, whoever's turn it was") {
  Story story;
  story.push(1, "a", 0).push(2, "b", 0).run(2, "b", 10, 30).run(1, "a", 30, 70).finish();
  const Report before = story.as_it_was();
  CHECK(waits(before, "a") == "1 30/30/30");
  CHECK(waits(before, "b") == "1 10/10/10");
  CHECK(figures_of(before, "a").run_ms == 40);
}

TEST_CASE("played again it is the scheduler that says who is next, from the first start on") {
  Story story;
  story.push(1, "a", 0).push(2, "b", 0).run(2, "b", 10, 30).run(1, "a", 30, 70).finish();
  const Report after = story.by_turn();
  CHECK(waits(after, "a") == "1 10/10/10");
  CHECK(waits(after, "b") == "1 50/50/50");
}

TEST_CASE("with more slots nobody waits for another") {
  Story story;
  for (uint64_t id = 1; id <= 4; ++id) story.push(id, "a", 0);
  for (uint64_t id = 1; id <= 4; ++id) story.run(id, "a", int64_t(id - 1) * 100, int64_t(id) * 100);
  story.finish();
  CHECK(waits(story.as_it_was(), "a") == "4 100/300/300");
  CHECK(waits(story.by_turn(1), "a") == "4 100/300/300");
  CHECK(waits(story.by_turn(2), "a") == "4 0/100/100");
  CHECK(waits(story.by_turn(4), "a") == "4 0/0/0");
}

TEST_CASE("a retry runs again, so long after its run, and its wait is that of its first one") {
  Story story;
  story.push(1, "a", 0).start(1, "a", 10).end("retried", 1, "a", 20, 520).run(1, "a", 520, 560).finish();
  const Report after = story.by_turn();
  CHECK(waits(after, "a") == "1 10/10/10");
  CHECK(figures_of(after, "a").run_ms == 50);
}

TEST_CASE("a retry that nothing followed was the last one") {
  Story story;
  story.push(1, "a", 0)
      .start(1, "a", 0)
      .end("retried", 1, "a", 50)
      .push(2, "a", 60)
      .run(2, "a", 60, 90)
      .finish();
  CHECK(figures_of(story.by_turn(), "a").run_ms == 80);
}

TEST_CASE("a delay is waited for, and is no wait") {
  Story story;
  story.push(1, "a", 0, 1'000).run(1, "a", 1'010, 1'020).finish();
  CHECK(waits(story.as_it_was(), "a") == "1 10/10/10");
  CHECK(waits(story.by_turn(), "a") == "1 10/10/10");
}

TEST_CASE("what was cancelled before its turn is not served") {
  Story story;
  story.push(1, "a", 0).push(2, "a", 0).end("cancelled", 1, "a", 5).run(2, "a", 10, 20).finish();
  const Report after = story.by_turn();
  CHECK(waits(after, "a") == "1 10/10/10");
  CHECK(figures_of(after, "a").run_ms == 10);
}

TEST_CASE("what was moved away before its turn is not served, and waits no longer") {
  Story story;
  story.push(1, "a", 0).push(2, "a", 0).end("leaving", 1, "a", 4).end("left", 1, "a", 5);
  story.run(2, "a", 10, 20).finish();
  for (const Report& report : {story.as_it_was(), story.by_turn()}) {
    CHECK(waits(report, "a") == "1 10/10/10");
    CHECK(figures_of(report, "a").run_ms == 10);
    CHECK(report.left == 0);
  }
}

TEST_CASE("what came from another queue has its turn from then on, and no wait") {
  Story story;
  story.push(1, "c", 0).run(1, "c", 0, 20).end("arrived", 2, "b", 100).end("freed", 2, "b", 101);
  story.push(3, "a", 105).run(2, "b", 150, 160).run(3, "a", 160, 170).finish();
  CHECK(waits(story.as_it_was(), "a") == "1 55/55/55");
  CHECK(waits(story.by_turn(), "a") == "1 6/6/6");
  CHECK(figures_of(story.by_turn(), "b").count == 0);
  CHECK(story.recording.assumed().arrived == 1);
  CHECK(story.recording.assumed().pushed_before == 0);
}

TEST_CASE("what slept until others had ended comes back as long after its run as it did") {
  Story story;
  story.push(1, "a", 0).start(1, "a", 0).end("released", 1, "a", 10).end("freed", 1, "a", 500);
  story.run(1, "a", 500, 510).push(2, "b", 12).run(2, "b", 20, 420).finish();
  CHECK(waits(story.by_turn(), "b") == "1 0/0/0");
}

TEST_CASE("what expired before its turn is not served") {
  Story story;
  Event push = Story::about("pushed", 1, "a", 0);
  push.expires_wall_ms = kNoon + 50;
  story.add(push).push(2, "b", 0).run(2, "b", 100, 120).finish();
  CHECK(figures_of(story.by_turn(), "a").run_ms == 0);
  CHECK(figures_of(story.as_it_was(), "a").run_ms == 0);
}

TEST_CASE("what comes after another starts when that has ended") {
  Story story;
  Event second = Story::about("pushed", 2, "a", 0);
  second.after = "1";
  story.push(1, "a", 0)
      .add(second)
      .run(1, "a", 10, 110)
      .end("freed", 2, "a", 110)
      .run(2, "a", 110, 130)
      .finish();
  const Report after = story.by_turn(4);
  CHECK(waits(after, "a") == "2 0/10/10");
  CHECK(waits(story.as_it_was(), "a") == "2 0/10/10");
}

TEST_CASE("what comes after one that has ended long ago starts at once, or never where that was cancelled") {
  const bool acked = GENERATE(true, false);
  Story story;
  Event second = Story::about("pushed", 2, "a", 200);
  second.after = "1";
  story.push(1, "b", 0).start(1, "b", 10).end(acked ? "acked" : "cancelled", 1, "b", 50);
  story.add(second);
  if (acked) story.run(2, "a", 200, 230);
  if (!acked) story.end("buried", 2, "a", 200);
  story.finish();
  CHECK(figures_of(story.by_turn(), "a").run_ms == (acked ? 30 : 0));
}

TEST_CASE("what comes after one that was buried is never served") {
  Story story;
  Event second = Story::about("pushed", 2, "a", 0);
  second.after = "1";
  story.push(1, "a", 0).add(second).start(1, "a", 10).end("buried", 1, "a", 110).end("buried", 2, "a", 110);
  story.finish();
  CHECK(figures_of(story.by_turn(4), "a").run_ms == 100);
}

TEST_CASE("a setting holds from when it was made") {
  Event resume = Story::about("set", 0, "a", 900);
  const PolicyPatch patch{{}, {PolicyKey::paused}};
  resume.set = &patch;
  Story story;
  story.push(1, "a", 0).set("a", PolicyKey::paused, 1, 5).push(2, "b", 10).run(2, "b", 20, 30).add(resume);
  story.run(1, "a", 1'000, 1'010).finish();
  CHECK(waits(story.by_turn(), "a") == "1 900/900/900");
}

TEST_CASE("what was there before the events begin has its turn, and no wait") {
  Story story;
  story.run(7, "a", 0, 50).push(8, "a", 10).run(8, "a", 50, 60).finish();
  CHECK(waits(story.by_turn(), "a") == "1 40/40/40");
  CHECK(figures_of(story.by_turn(), "a").run_ms == 10);
  CHECK(figures_of(story.as_it_was(), "a").run_ms == 10);
  CHECK(story.recording.assumed().pushed_before == 1);
}

TEST_CASE("a run of which nobody knows whose message it was is left out, and counted") {
  Story story;
  story.run(7, "", 0, 50).push(8, "a", 10).run(8, "a", 50, 60).finish();
  CHECK(figures_of(story.by_turn(), "a").run_ms == 10);
  CHECK(story.by_turn().tenants.size() == 1);
  CHECK(story.recording.assumed().nameless == 1);
}

TEST_CASE(
    "what had not started by the end runs as long as others do, and waits until the end on both sides") {
  Story story;
  story.push(1, "a", 0).run(1, "a", 0, 100).push(2, "a", 40).push(3, "a", 40).finish();
  CHECK(waits(story.as_it_was(), "a") == "3 60/60/60");
  CHECK(waits(story.by_turn(), "a") == "3 60/60/60");
  CHECK(waits(story.by_turn(3), "a") == "3 0/0/0");
  CHECK(figures_of(story.by_turn(), "a").run_ms == 300);
  CHECK(story.recording.assumed().without_run == 2);
}

TEST_CASE("a run that had not ended by the end is taken to end there") {
  Story story;
  story.push(1, "a", 0).start(1, "a", 0).push(2, "b", 70).finish();
  CHECK(figures_of(story.by_turn(), "a").run_ms == 70);
  CHECK(story.recording.assumed().cut_off == 1);
}

TEST_CASE("a lease whose time was over ended then") {
  Story story;
  Event leased = Story::about("leased", 1, "a", 0);
  leased.until_wall_ms = kNoon + 30;
  story.push(1, "a", 0).add(leased).run(1, "a", 100, 120).finish();
  CHECK(figures_of(story.by_turn(), "a").run_ms == 50);
}

TEST_CASE("what was not due by the end is no message of the sum, and its run none either") {
  Story story;
  for (uint64_t id = 1; id <= 5; ++id) story.push(id, "a", 0, 3'600'000);
  story.push(6, "a", 0).run(6, "a", 0, 1'000).finish();
  for (const Report& report : {story.as_it_was(), story.by_turn(), story.by_turn(9)}) {
    CHECK(waits(report, "a") == "1 0/0/0");
    CHECK(figures_of(report, "a").run_ms == 1'000);
    CHECK(report.all.run_ms == 1'000);
  }
}

TEST_CASE("what is told twice counts once") {
  Story once, twice;
  for (Story* story : {&once, &twice}) {
    story->push(1, "a", 0).push(2, "a", 0).run(1, "a", 10, 30);
    if (story == &twice) story->push(2, "a", 0).run(1, "a", 10, 30);
    story->run(2, "a", 30, 80).finish();
  }
  CHECK(waits(once.by_turn(), "a") == waits(twice.by_turn(), "a"));
  CHECK(figures_of(twice.by_turn(), "a").run_ms == 70);
}

TEST_CASE("the end of an earlier run that is told once more ends no later one") {
  Story story;
  story.push(1, "a", 0).start(1, "a", 10).end("retried", 1, "a", 20, 520).start(1, "a", 520);
  story.end("retried", 1, "a", 20, 520).end("acked", 1, "a", 560).finish();
  CHECK(figures_of(story.by_turn(), "a").run_ms == 50);
}

TEST_CASE(
    "as many slots as ran at once, though a worker takes its next message before it ends the one before") {
  Story story;
  for (uint64_t id = 1; id <= 6; ++id) story.push(id, "a", 0);
  story.start(1, "a", 0).start(2, "a", 0);
  story.start(3, "a", 100).end("acked", 1, "a", 101).start(4, "a", 102).end("acked", 2, "a", 104);
  story.start(5, "a", 200)
      .end("acked", 3, "a", 203)
      .end("acked", 4, "a", 204)
      .end("acked", 5, "a", 300)
      .finish();
  CHECK(story.recording.most_at_once() == 2);
}

TEST_CASE("a recording of nothing is empty") {
  Story story;
  story.finish();
  CHECK(story.recording.empty());
  CHECK(story.recording.most_at_once() == 1);
  CHECK_FALSE(story.by_turn().all.wait);
}

}  // namespace fq::test

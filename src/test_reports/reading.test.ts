import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { casesOf, summaryOf, type TestCase, UnreadableReport } from './index.ts';

const owner = 1;
const suite = (content: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites><testsuite>${content}</testsuite></testsuites>`;

async function casesIn(...files: string[]): Promise<TestCase[]> {
  const bytes = Buffer.concat(files.map((text) => gzipSync(text)));
  return (await Array.fromAsync(casesOf(bytes, owner))).flat();
}

const told = suite(`
  <testcase classname="orchard.Apple" name="ripens" time="1.5" file="apple_test.rb"/>
  <testcase classname="orchard.Apple" name="falls" time="1,000.25">
    <failure message="it hangs" type="Late">expected: fallen
got: hanging</failure>
    <system-out>[[ATTACHMENT|shots/apple 1.png]]</system-out>
  </testcase>
  <testcase name="rots"><error message="no apple &amp; no tree"/></testcase>
  <testcase name="sells" time="-3"><skipped/></testcase>
  <testcase name="grows"><properties><property name="failure" value="none"/></properties><system-out><![CDATA[<failure>]]></system-out></testcase>`);

test('each test has its outcome, its time and what it said', async () => {
  const none = { classname: null, file: null, execution_time: 0, system_output: null, attachment: null };
  const apple = { ...none, classname: 'orchard.Apple' };
  assert.deepEqual(await casesIn(told), [
    { ...apple, status: 'success', name: 'ripens', file: 'apple_test.rb', execution_time: 1.5 },
    {
      ...apple,
      ...{ status: 'failed', name: 'falls', execution_time: 1000.25, attachment: 'shots/apple 1.png' },
      system_output: 'expected: fallen\ngot: hanging',
    },
    { ...none, status: 'error', name: 'rots', system_output: 'no apple & no tree' },
    { ...none, status: 'skipped', name: 'sells' },
    { ...none, status: 'success', name: 'grows' },
  ]);
  const summary = { success: 2, failed: 1, skipped: 1, error: 1, total_time: 1001.75 };
  assert.deepEqual(await summaryOf(gzipSync(told), owner), summary);
});

test('a report may consist of several files', async () => {
  const files = [suite('<testcase name="a"/>'), `\uFEFF${suite('<testsuite><testcase name="b"/></testsuite>')}`];
  assert.deepEqual(
    (await casesIn(...files)).map(({ name }) => name),
    ['a', 'b'],
  );
});

test('document types, entities, what is not XML and damaged files are refused with a reason', async () => {
  const reasons: [bytes: Buffer, reason: RegExp][] = [
    [gzipSync('<!DOCTYPE a [<!ENTITY b "c">]><testsuite/>'), /a document type is not allowed/],
    [gzipSync(suite('<testcase name="&lol;"/>')), /undefined entity/],
    [gzipSync('<testsuite><testcase></testsuite>'), /unexpected close tag|unmatched/],
    [gzipSync('no XML'), /text data outside of root|document must contain a root/],
    [gzipSync(suite('<a>'.repeat(200))), /nested too deeply/],
    [gzipSync(Buffer.from([0x3c, 0x61, 0xff])), /not text in UTF-8/],
    [Buffer.from(told), /not gzip/],
    [gzipSync(told).subarray(0, -9), /damaged/],
    [gzipSync(told).subarray(0, 5), /damaged/],
  ];
  for (const [bytes, reason] of reasons)
    await assert.rejects(
      summaryOf(bytes, owner),
      (error) => error instanceof UnreadableReport && reason.test(error.message),
      String(reason),
    );
});

test('reports that unpack to more than 30 MiB or have more than 500,000 tests are refused', async () => {
  const blank = gzipSync(suite(' '.repeat(20 * 2 ** 20)), { level: 1 });
  assert.equal((await summaryOf(blank, owner)).success, 0);
  await assert.rejects(summaryOf(Buffer.concat([blank, blank]), owner), /it is too large/);
  const many = (count: number) => gzipSync(suite('<testcase name="a"/>'.repeat(count)), { level: 1 });
  await assert.rejects(summaryOf(many(500_001), owner), /more than 500000 test cases/);
  assert.equal((await summaryOf(many(500_000), owner)).success, 500_000);
});

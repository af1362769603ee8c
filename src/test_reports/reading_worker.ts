/** The thread that `reading.ts` starts. It reads one report after another. */
import { parentPort } from 'node:worker_threads';
import { UnreadableReport } from './errors.ts';
import { JunitReader } from './junit.ts';
import { membersOf } from './members.ts';
import type { FromReader, ToReader } from './reading.ts';
import { maximumReport_bytes, type Summary, type TestCase } from './types.ts';

/** The number of tests that are parsed at once, which takes some milliseconds. */
const maximumAtOnce = 1_000;

function textOf(bytes: Buffer): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnreadableReport('it is not text in UTF-8');
  }
  return text;
}

function summed(cases: readonly TestCase[]): Summary {
  const summary: Summary = { success: 0, failed: 0, skipped: 0, error: 0, total_time: 0 };
  for (const { status, execution_time } of cases) {
    summary[status]++;
    summary.total_time += execution_time;
  }
  return summary;
}

function* portionsOf(cases: readonly TestCase[]): Generator<string> {
  for (let at = 0; at < cases.length; at += maximumAtOnce) yield JSON.stringify(cases.slice(at, at + maximumAtOnce));
}

function answerTo({ bytes, wants_cases }: ToReader): FromReader {
  try {
    const reader = new JunitReader();
    for (const member of membersOf(Buffer.from(bytes), maximumReport_bytes)) reader.read(textOf(member));
    return { summary: summed(reader.cases), portions: wants_cases ? [...portionsOf(reader.cases)] : [] };
  } catch (error) {
    if (error instanceof UnreadableReport) return { reason: error.message };
    throw error;
  }
}

parentPort!.on('message', (request: ToReader) => parentPort!.postMessage(answerTo(request)));

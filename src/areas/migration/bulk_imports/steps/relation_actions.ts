/** Steps that read the lines of a relation and write its records. */
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { InvalidContent, LimitExceeded, linesOf, readJson } from '../../../../archives/index.ts';
import { isUnavailable } from '../../../../db/index.ts';
import { nextTurn } from '../../../../foundation/loop_turns.ts';
import { Ended } from '../../../../jobs/index.ts';
import type { Arrival, Arrived, ArrivedRecord, ArrivingRelation } from '../../../../relations/index.ts';
import { inStep, record } from '../journal_actions.ts';
import { type Exported, exportedFile, unpackedLimit } from '../source/export_queries.ts';
import type { Fallback } from '../source/fallback_queries.ts';
import { isRecord } from '../source/queries.ts';
import type { Outcome, Step, StepCall, StepFailure } from '../step_definition.ts';
import { arrivalOf } from './arrival_queries.ts';
import { type BatchPosition, throughBatches } from './batch_actions.ts';
import { describeNamed } from './people_queries.ts';

/** The number of records written in one transaction. */
const maximumRecords = 200;
const most_bytes = 8_000_000;

/** The next records of a file, and its lines that are not valid records. */
interface Portion {
  records: ArrivedRecord[];
  unreadable: StepFailure[];
  /** The number of the last line. */
  line: number;
  size_bytes: number;
}

const emptyPortion = (line: number): Portion => ({ records: [], unreadable: [], line, size_bytes: 0 });

const failure = (relation: string, exception_class: string, message: string): StepFailure => ({
  relation,
  exception_class,
  message,
  title: null,
  url: null,
  step: 'extractor',
});

/** Parses a line and adds it to a portion. */
async function add(portion: Portion, call: StepCall, number: number, bytes: Buffer | undefined): Promise<void> {
  const { relation } = call.step;
  portion.line = number;
  portion.size_bytes += bytes?.length ?? 0;
  try {
    if (!bytes) throw new LimitExceeded('The line is longer than 50 MB.');
    const value = await readJson(bytes, call.migration.user_id);
    if (!isRecord(value)) throw new InvalidContent('The line is no JSON object.');
    portion.records.push({ line: number, value });
  } catch (error) {
    if (!(error instanceof InvalidContent || error instanceof LimitExceeded)) throw error;
    portion.unreadable.push(failure(relation, error.name, `Line ${number}: ${error.message}`));
  }
}

/** After this many lines the event loop serves other requests. */
const linesInTurn = 20;

async function* portionsOf(call: StepCall, file: string, after: number): AsyncGenerator<Portion> {
  let portion = emptyPortion(after);
  const limits = { most_bytes: await unpackedLimit(call), from: after + 1 };
  for await (const { number, bytes } of linesOf(createReadStream(file), limits)) {
    if (bytes?.length === 0) continue;
    if (number % linesInTurn === 0) await nextTurn();
    await add(portion, call, number, bytes);
    const { records, unreadable } = portion;
    if (records.length + unreadable.length < maximumRecords && portion.size_bytes < most_bytes) continue;
    yield portion;
    portion = emptyPortion(number);
  }
  if (portion.line > after) yield portion;
}

/** Reads the next portion while the current one is being written. */
async function* readAhead(portions: AsyncGenerator<Portion>): AsyncGenerator<Portion> {
  let next = portions.next();
  try {
    for (;;) {
      const { value, done } = await next;
      if (done) return;
      next = portions.next();
      next.catch(() => {}); // thrown when it is awaited
      yield value;
    }
  } finally {
    await portions.return(undefined);
  }
}

const emptyArrived: Arrived = { counts: {}, failures: [] };

/** Writes a portion and the progress of the step in one transaction. */
const write = (
  call: StepCall,
  relation: ArrivingRelation,
  arrival: Arrival,
  batch: number,
  portion: Portion,
): Promise<void> =>
  inStep(call.db, call.step.id, async (tx, step) => {
    const { records, unreadable, line } = portion;
    const { counts, failures } = records.length > 0 ? await relation.arrive(tx, arrival, records) : emptyArrived;
    const own = counts[step.relation] ?? { fetched: 0, imported: 0 };
    await record(tx, call, step, {
      batch,
      line,
      counts: { ...counts, [step.relation]: { ...own, fetched: own.fetched + unreadable.length } },
      failures: [...unreadable, ...failures.map((each): StepFailure => ({ ...each, step: 'loader' }))],
    });
  });

/** Writes a portion. If it cannot be written as a whole, writes everything except the records that fail. */
async function writeWhatCan(
  call: StepCall,
  relation: ArrivingRelation,
  arrival: Arrival,
  batch: number,
  portion: Portion,
): Promise<void> {
  const { records } = portion;
  try {
    await write(call, relation, arrival, batch, portion);
  } catch (error) {
    if (error instanceof Ended || isUnavailable(error) || call.signal.aborted || records.length === 0) throw error;
    if (records.length === 1) {
      call.log.error({ err: error, relation: relation.name, line: records[0]!.line }, 'a record could not be imported');
      const lost = {
        ...failure(relation.name, 'InvalidRecord', 'The record could not be written.'),
        step: 'loader' as const,
      };
      return write(call, relation, arrival, batch, {
        ...portion,
        records: [],
        unreadable: [...portion.unreadable, lost],
      });
    }
    const half = Math.ceil(records.length / 2);
    const first = records.slice(0, half);
    await writeWhatCan(call, relation, arrival, batch, {
      ...portion,
      records: first,
      unreadable: [],
      line: first.at(-1)!.line,
    });
    await writeWhatCan(call, relation, arrival, batch, { ...portion, records: records.slice(half) });
  }
}

/** Describes the people that records refer to before the records are written, if the source has not done so. */
async function writeKnown(
  call: StepCall,
  relation: ArrivingRelation,
  batch: number,
  portion: Portion,
  arrival: Arrival,
): Promise<Arrival> {
  const areNew = await describeNamed(
    call,
    portion.records.map(({ value }) => value),
  );
  const now = areNew ? await arrivalOf(call) : arrival;
  await writeWhatCan(call, relation, now, batch, portion);
  return now;
}

/** Continues reading a file. @returns whether it reached the end */
async function readOn(
  call: StepCall,
  relation: ArrivingRelation,
  exported: Exported,
  place: BatchPosition,
): Promise<boolean> {
  const file = await exportedFile(call, relation.name, exported, place.batch);
  let arrival = await arrivalOf(call);
  try {
    for await (const portion of readAhead(portionsOf(call, file, place.line))) {
      arrival = await writeKnown(call, relation, place.batch, portion, arrival);
      if (call.isOverdue()) return false;
    }
  } catch (error) {
    if (!(error instanceof InvalidContent || error instanceof LimitExceeded)) throw error;
    const failures = [failure(relation.name, error.name, error.message)];
    await inStep(call.db, call.step.id, (tx, step) => record(tx, call, step, { failures }));
  }
  await rm(file, { force: true });
  return true;
}

/** Continues reading a relation that the source does not export. */
async function readFallback(call: StepCall, relation: ArrivingRelation, fallback: Fallback): Promise<Outcome> {
  let portion = emptyPortion(call.step.line);
  let arrival = await arrivalOf(call);
  for await (const each of fallback(call, portion.line)) {
    if (each.line <= portion.line) continue;
    portion.records.push(each);
    portion.line = each.line;
    if (portion.records.length < maximumRecords) continue;
    arrival = await writeKnown(call, relation, 1, portion, arrival);
    if (call.isOverdue()) return { wait_s: 0 };
    portion = emptyPortion(each.line);
  }
  if (portion.records.length > 0) await writeKnown(call, relation, 1, portion, arrival);
  return portion.line > 0 ? 'finished' : 'skipped';
}

/**
 * The step that imports a relation.
 * @param fallback for sources that do not export it
 */
export const relationStep = (relation: ArrivingRelation, fallback?: Fallback): Step => ({
  name: relation.name,
  async run(call) {
    const outcome = await throughBatches(call, relation.name, (exported, place) =>
      readOn(call, relation, exported, place),
    );
    return outcome === 'skipped' && fallback ? readFallback(call, relation, fallback) : outcome;
  },
});

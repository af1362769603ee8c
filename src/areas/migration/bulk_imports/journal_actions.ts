/** The journal of steps: the progress of a step is updated in the transaction that writes its records. */
import { type Insertable, sql } from 'kysely';
import type { Database, DB } from '../../../db/index.ts';
import { Ended } from '../../../jobs/index.ts';
import type { RecordCount } from '../../../relations/index.ts';
import type { Counts, StepCall, StepFailure, StepRow } from './step_definition.ts';
import { pipelineClass } from './step_rules.ts';

/**
 * Locks a step, so that a cancel waits for the current write, or prevents it.
 * @throws Ended if the step has ended in the meantime, e.g. was canceled
 */
export async function lockedStep(tx: Database, step_id: number): Promise<StepRow> {
  const row = await tx
    .selectFrom('bulk_import_relations')
    .selectAll()
    .where('id', '=', step_id)
    .where('state', '=', 'started')
    .forNoKeyUpdate()
    .$castTo<StepRow>()
    .executeTakeFirst();
  if (!row) throw new Ended();
  return row;
}

/**
 * Runs a transaction of a step.
 * @throws Ended if the step has ended in the meantime, e.g. was canceled
 */
export const inStep = <T>(
  db: Database,
  step_id: number,
  work: (tx: Database, step: StepRow) => Promise<T>,
): Promise<T> => db.transaction().execute(async (tx) => work(tx, await lockedStep(tx, step_id)));

export interface Progress {
  batch?: number;
  batches_count?: number;
  /** The line of the last record written. */
  line?: number;
  etag?: string | null;
  /** The number of records that the source reports. */
  source?: number;
  /** The numbers of records read and written, to be added to the earlier ones. */
  counts?: Record<string, RecordCount>;
  failures?: readonly StepFailure[];
}

/**
 * Adds the new counts to the earlier ones. The total of a nested relation is the number of its records that were read.
 */
function added(step: StepRow, { source, counts = {} }: Progress): Counts {
  const sums: Counts = { ...step.counts };
  for (const [name, { fetched, imported }] of Object.entries(counts)) {
    const before = sums[name] ?? { source: 0, fetched: 0, imported: 0 };
    const read = before.fetched + fetched;
    sums[name] = { source: Math.max(before.source, read), fetched: read, imported: before.imported + imported };
  }
  if (source === undefined) return sums;
  const own = sums[step.relation] ?? { source: 0, fetched: 0, imported: 0 };
  return { ...sums, [step.relation]: { ...own, source: Math.max(source, own.fetched) } };
}

/**
 * Records the progress of a step.
 * @param tx the transaction of `inStep`
 */
export async function record(tx: Database, call: StepCall, step: StepRow, progress: Progress): Promise<void> {
  const { source: _, counts: __, failures = [], ...place } = progress;
  if (failures.length > 0) await recordFailures(tx, call, failures);
  await tx
    .updateTable('bulk_import_relations')
    .set({
      ...place,
      counts: JSON.stringify(added(step, progress)),
      failures_count: sql<number>`failures_count + ${failures.length}::bigint`,
      // The source's own total is not progress: its files may never be sent.
      ...(progress.source === undefined ? { silent_since: null, tries: 0, progressed_at: sql<string>`now()` } : {}),
    })
    .where('id', '=', step.id)
    .execute();
}

/** The number of failures of one class in a relation that are stored; further ones are only counted. */
const maximumAlike = 100;
const maximumLength = 255;

async function recordFailures(tx: Database, call: StepCall, failures: readonly StepFailure[]): Promise<void> {
  const { entity, step, correlation_id, source } = call;
  const shown = (text: string) =>
    (source.token === '' ? text : text.replaceAll(source.token, '[FILTERED]'))
      .replaceAll('\0', '')
      .slice(0, maximumLength);
  const all = failures.map(({ relation, step: failed, exception_class, message, title, url }) => ({
    entity_id: entity.id,
    relation: relation.slice(0, maximumLength),
    step: failed,
    exception_class,
    exception_message: shown(message),
    source_title: title === null ? null : shown(title),
    source_url: url === null ? null : shown(url),
    pipeline_class: pipelineClass(entity.entity_type, step.relation),
    correlation_id,
  }));
  for (const alike of Map.groupBy(all, ({ relation, exception_class }) => `${exception_class} ${relation}`).values()) {
    const [first] = alike;
    const { count } = await tx
      .selectFrom('bulk_import_failures')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('entity_id', '=', entity.id)
      .where('relation', '=', first!.relation)
      .where('exception_class', '=', first!.exception_class)
      .where('more', 'is', null)
      .executeTakeFirstOrThrow();
    const shown = alike.slice(0, Math.max(maximumAlike - count, 0));
    if (shown.length > 0) await tx.insertInto('bulk_import_failures').values(shown).execute();
    const more = alike.length - shown.length;
    if (more > 0) await addMore(tx, { ...first!, source_title: null, source_url: null }, more);
  }
}

const moreText = (count: number) => `… and ${count.toLocaleString('en-US')} more`;

async function addMore(
  tx: Database,
  failure: Omit<Insertable<DB['bulk_import_failures']>, 'exception_message'>,
  more: number,
): Promise<void> {
  const { rows } = await sql<{ id: number; more: number }>`
    update bulk_import_failures set more = more + ${more}::bigint
     where entity_id = ${failure.entity_id} and relation = ${failure.relation} and exception_class = ${failure.exception_class} and more is not null
    returning id, more`.execute(tx);
  const [row] = rows;
  if (!row) {
    await tx
      .insertInto('bulk_import_failures')
      .values({ ...failure, more, exception_message: moreText(more) })
      .execute();
    return;
  }
  const exception_message = moreText(row.more);
  await tx.updateTable('bulk_import_failures').set({ exception_message }).where('id', '=', row.id).execute();
}

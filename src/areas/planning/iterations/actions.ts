/** Complete changes to cadences and their iterations. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { today } from '../../../cron/index.ts';
import { type Database, nextIids, stamped } from '../../../db/index.ts';
import { found, Id, invalid } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';
import { type CadenceFields, cadenceReasons, lastDay, nextSpans, type Span, wordReasons } from './rules.ts';

/**
 * The job that moves open issues from ended iterations to the current one, or else the next. The area of issues runs
 * it.
 */
export const rollOver = queueOf('roll_issues_over', { input: { cadence_id: Id, ended: Type.Array(Id) }, retries: 5 });

const fields = [
  'title',
  'description',
  'active',
  'automatic',
  'start_date',
  'duration_in_weeks',
  'iterations_in_advance',
  'roll_over',
] as const;

interface Cadence extends CadenceFields {
  id: number;
  group_id: number;
}

/** The fields of a cadence in a request; omitted ones stay, or take the column default in a new one. */
export type CadenceInput = { [Name in keyof CadenceFields]?: CadenceFields[Name] | undefined };

function check(cadence: CadenceFields): void {
  const reasons = cadenceReasons(cadence);
  if (Object.keys(reasons).length > 0) throw invalid(reasons);
}

const givenOf = (input: CadenceInput) =>
  Object.fromEntries(
    Object.entries({ ...input, title: input.title?.trim() }).filter(([, value]) => value !== undefined),
  );

/** The name of a cadence in a 404. */
export const missing = 'Iteration Cadence';

/** The cadence of a group, locked until the transaction ends. */
async function lockedCadence(tx: Database, group_id: number, id: number): Promise<Cadence | undefined> {
  const query = tx
    .selectFrom('iteration_cadences')
    .select(['id', 'group_id', ...fields])
    .where('id', '=', id)
    .where('group_id', '=', group_id)
    .forUpdate();
  return query.executeTakeFirst();
}

/**
 * Adds a cadence to a group, with the first iterations if it is automatic.
 * @returns its id
 * @throws ApiError 400 with the reasons by field
 */
export async function addCadence(
  tx: Database,
  group_id: number,
  input: CadenceInput & { title: string },
): Promise<number> {
  const cadence: CadenceFields = {
    description: null,
    active: true,
    automatic: true,
    start_date: null,
    duration_in_weeks: null,
    iterations_in_advance: null,
    roll_over: false,
    ...givenOf(input),
    title: input.title.trim(),
  };
  check(cadence);
  const { id } = await tx
    .insertInto('iteration_cadences')
    .values({ ...cadence, group_id })
    .returning('id')
    .executeTakeFirstOrThrow();
  await advanceCadence(tx, group_id, id);
  return id;
}

/**
 * Changes a cadence. Its upcoming iterations are rescheduled; iterations that have started do not change.
 * @throws ApiError 404, 400 with the reasons by field
 */
export async function changeCadence(tx: Database, group_id: number, id: number, input: CadenceInput): Promise<void> {
  const before = found(missing, await lockedCadence(tx, group_id, id));
  const after: Cadence = { ...before, ...givenOf(input) };
  check(after);
  const { id: _, group_id: __, ...columns } = after;
  await tx.updateTable('iteration_cadences').set(stamped(columns)).where('id', '=', id).execute();
  const hasNewRhythm = before.start_date !== after.start_date || before.duration_in_weeks !== after.duration_in_weeks;
  if (before.automatic && after.automatic && hasNewRhythm) await moveUpcoming(tx, after);
  await advanceCadence(tx, group_id, id);
}

const rhythmOf = ({ start_date, duration_in_weeks }: Cadence) => ({
  start_date: start_date!,
  duration_in_weeks: duration_in_weeks!,
});

/** Reschedules the upcoming iterations of a cadence. */
async function moveUpcoming(tx: Database, cadence: Cadence): Promise<void> {
  const now = today();
  const { rows } = await sql<{ id: number; begun: boolean; due_date: string }>`
    select id, start_date <= ${now} as begun, due_date from iterations where cadence_id = ${cadence.id} order by start_date`.execute(
    tx,
  );
  const ids = rows.filter(({ begun }) => !begun).map((row) => row.id);
  const spans = nextSpans(rhythmOf(cadence), rows.findLast(({ begun }) => begun)?.due_date, ids.length, now).slice(
    0,
    ids.length,
  );
  await sql`set constraints iterations_do_not_overlap deferred`.execute(tx);
  await sql`update iterations set start_date = moved.start_date, due_date = moved.due_date, updated_at = now()
    from unnest(${ids}::bigint[], ${spans.map((span) => span.start_date)}::date[], ${spans.map((span) => span.due_date)}::date[])
         moved(id, start_date, due_date)
   where moved.id = iterations.id`.execute(tx);
}

/** Brings a cadence up to date: iterations start and end, iterations in advance are created, and a job rolls open issues over. */
export async function advanceCadence(tx: Database, group_id: number, id: number): Promise<void> {
  const cadence = await lockedCadence(tx, group_id, id);
  // Deleted since the job listed it.
  if (!cadence) return;
  const now = today();
  const { rows: changed } = await sql<{ id: number; state: number }>`
    update iterations set state = due.state, updated_at = now()
      from (select id, ${stateOn(now)} as state from iterations where cadence_id = ${id}) due
     where due.id = iterations.id and due.state <> iterations.state
    returning iterations.id, iterations.state`.execute(tx);
  if (cadence.active && cadence.automatic) await makeInAdvance(tx, cadence, now);
  const ended = changed.filter(({ state }) => state === 3).map((iteration) => iteration.id);
  if (cadence.roll_over && ended.length > 0) await rollOver.enqueue(tx, { cadence_id: id, ended });
}

/** The state of a row of `iterations` on a day. */
export const stateOn = (day: string) =>
  sql<number>`case when due_date < ${day} then 3 when start_date <= ${day} then 2 else 1 end`;

async function makeInAdvance(tx: Database, cadence: Cadence, now: string): Promise<void> {
  const { rows } = await sql<{ upcoming: number; last_due: string | null }>`
    select count(*) filter (where start_date > ${now}) as upcoming, max(due_date) as last_due
      from iterations where cadence_id = ${cadence.id}`.execute(tx);
  const { upcoming, last_due } = rows[0]!;
  const missing = cadence.iterations_in_advance! - upcoming;
  if (missing > 0) await addIterations(tx, cadence, nextSpans(rhythmOf(cadence), last_due ?? undefined, missing, now));
}

interface NewIteration extends Span {
  title?: string | null | undefined;
  description?: string | null | undefined;
}

/** Adds iterations in the order of their days, and renumbers all iterations of the cadence. */
async function addIterations(
  tx: Database,
  { id, group_id }: Cadence,
  iterations: readonly NewIteration[],
): Promise<number[]> {
  const iid = await nextIids(tx, { namespace_id: group_id }, 'iterations', iterations.length);
  const rows = iterations.map(({ title = null, description = null, start_date, due_date }, index) => ({
    cadence_id: id,
    group_id,
    title,
    description,
    start_date,
    due_date,
    iid: iid + index,
    sequence: 0,
  }));
  const added = await tx.insertInto('iterations').values(rows).returning('id').execute();
  await sql`update iterations set state = counted.state, sequence = counted.sequence
    from (select id, ${stateOn(today())} as state, row_number() over (order by start_date) as sequence from iterations where cadence_id = ${id}) counted
   where counted.id = iterations.id and (counted.sequence, counted.state) <> (iterations.sequence, iterations.state)`.execute(
    tx,
  );
  return added.map((row) => row.id);
}

const refused = (reason: string) => invalid({ base: [reason] });

/**
 * Adds one iteration to a manual cadence.
 * @returns its id
 * @throws ApiError 404, 400 with the reasons by field
 */
export async function addIteration(
  tx: Database,
  group_id: number,
  cadence_id: number,
  iteration: NewIteration,
): Promise<number> {
  const cadence = found(missing, await lockedCadence(tx, group_id, cadence_id));
  if (cadence.automatic) throw refused('Iterations of an automatic cadence are made by the cadence');
  const { start_date, due_date } = iteration;
  const words = { title: iteration.title?.trim() || null, description: iteration.description ?? null };
  const reasons = wordReasons(words);
  if (due_date < start_date) reasons.due_date = ['must be on or after the start date'];
  if (due_date > lastDay) reasons.due_date = [`must be on or before ${lastDay}`];
  if (Object.keys(reasons).length > 0) throw invalid(reasons);
  const { rows } = await sql`
    select from iterations where cadence_id = ${cadence_id} and daterange(start_date, due_date, '[]') && daterange(${start_date}, ${due_date}, '[]')
     limit 1`.execute(tx);
  if (rows.length > 0)
    throw refused('Dates cannot overlap with other existing Iterations within this iterations cadence');
  const [id] = await addIterations(tx, cadence, [{ ...words, start_date, due_date }]);
  return id!;
}

/**
 * Running migrations: the job of a step, the poll that finds due work, and the cleanup after the end
 * (docs/reference/bulk_imports.md#how-it-runs).
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { isGroup, projectState, recipientFor } from '../../../access/index.ts';
import { InvalidContent, LimitExceeded } from '../../../archives/index.ts';
import { type Database, isUnavailable } from '../../../db/index.ts';
import { type AnyJob, Ended, type JobCall, job, type Poll } from '../../../jobs/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import type { MigrationRow } from './definition.ts';
import { inStep, record } from './journal_actions.ts';
import { runStep, tellOfEnd } from './queue_jobs.ts';
import { advance, endStale, endStep, enqueueStep } from './run_actions.ts';
import { removeFiles, stepsWithFiles } from './source/export_queries.ts';
import { SourceFailure, Unanswered } from './source/queries.ts';
import { unsealToken } from './source/token_queries.ts';
import {
  type EntityRow,
  type Outcome,
  type Step,
  type StepCall,
  StepFailed,
  type StepFailure,
  type StepRow,
} from './step_definition.ts';
import { maximumSilence_s, pauseAfter } from './step_rules.ts';
import { type Relations, stepsOf } from './steps_definition.ts';

/** How long a run continues while other importers wait. */
const turn_ms = 15_000;
/** How long the source may be silent in the middle of a response. */
const silence_ms = 60_000;
/** How many times a step may fail for a reason that is not the source's fault. */
const maximumErrors = 3;

interface RunningStep {
  step: StepRow;
  entity: EntityRow;
  migration: MigrationRow;
}

/** A running step with its entity and migration. */
async function placeOf(db: Database, step_id: number): Promise<RunningStep | undefined> {
  const step = await db
    .selectFrom('bulk_import_relations')
    .selectAll()
    .where('id', '=', step_id)
    .where('state', '=', 'started')
    .$castTo<StepRow>()
    .executeTakeFirst();
  if (!step) return undefined;
  const entities = db
    .selectFrom('bulk_import_entities')
    .selectAll()
    .where('id', '=', step.entity_id)
    .$castTo<EntityRow>();
  const entity = await entities.executeTakeFirstOrThrow();
  const migrations = db
    .selectFrom('bulk_imports')
    .selectAll()
    .where('id', '=', entity.bulk_import_id)
    .$castTo<MigrationRow>();
  return { step, entity, migration: await migrations.executeTakeFirstOrThrow() };
}

/** @throws Ended if the step is no longer running; StepFailed if its group or project is marked for deletion */
async function confirm({ db, input: { step_id } }: JobCall<{ step_id: number }>): Promise<void> {
  const { rows } = await sql<{ is_doomed: boolean }>`
    select exists (select from projects where projects.id = entities.project_id and ${projectState.marked_for_deletion})
           or exists (select from namespaces where namespaces.id = entities.namespace_id and ${isGroup('marked_for_deletion')}) as is_doomed
      from bulk_import_relations steps join bulk_import_entities entities on entities.id = entity_id
     where steps.id = ${step_id} and steps.state = 'started'`.execute(db);
  if (!rows[0]) throw new Ended('The step does not run any more.');
  if (rows[0].is_doomed) throw new StepFailed('InvalidRecord', 'The destination is to be deleted.', 'loader');
}

const placeIn = ({ step, entity, migration }: RunningStep) => ({
  migration_id: migration.id,
  entity_id: entity.id,
  step_id: step.id,
  name: step.relation,
});

/** An error after which a step cannot continue. */
interface Fatal {
  exception_class: string;
  message: string;
  step: StepFailure['step'];
}

function fatalOf(error: unknown): Fatal | undefined {
  if (error instanceof StepFailed) return error;
  if (error instanceof SourceFailure)
    return { exception_class: error.exception_class, message: error.message, step: 'extractor' };
  if (error instanceof InvalidContent || error instanceof LimitExceeded)
    return { exception_class: error.name, message: error.message, step: 'extractor' };
  return undefined;
}

async function failStep(call: StepCall, place: RunningStep, { exception_class, message, step }: Fatal): Promise<void> {
  const failure = { relation: place.step.relation, exception_class, message, step, title: null, url: null };
  await inStep(call.db, place.step.id, (tx, row) => record(tx, call, row, { failures: [failure] }));
  await endStep(call.db, placeIn(place), 'failed');
}

/** Schedules another attempt, or gives up after a long silence. */
async function waitForSource(call: StepCall, place: RunningStep, error: Unanswered): Promise<void> {
  const { rows } = await sql<{ silence_s: number; tries: number }>`
    update bulk_import_relations set silent_since = coalesce(silent_since, now()), tries = tries + 1
     where id = ${place.step.id} and state = 'started'
    returning extract(epoch from now() - silent_since)::float8 as silence_s, tries`.execute(call.db);
  const [row] = rows;
  if (!row) return;
  if (row.silence_s >= maximumSilence_s) {
    await failStep(call, place, { exception_class: 'NetworkError', message: error.message, step: 'extractor' });
    return;
  }
  const wait_s = error.retry_after_s ?? pauseAfter(row.tries, row.silence_s);
  call.log.info({ reason: error.message, wait_s }, 'the source of a migration does not answer');
  await enqueueStep(call.db, place.step.id, wait_s);
}

/** @returns whether to retry the step */
async function countError(call: StepCall, place: RunningStep, error: unknown): Promise<boolean> {
  call.log.error({ err: error }, 'a step of a migration has failed');
  const { rows } = await sql<{ tries: number }>`
    update bulk_import_relations set tries = tries + 1 where id = ${place.step.id} returning tries`.execute(call.db);
  if (rows[0] && rows[0].tries < maximumErrors) return true;
  const message = 'The step has failed for a reason that the log of the server shows.';
  await failStep(call, place, { exception_class: 'InvalidContent', message, step: 'loader' });
  return false;
}

async function settle(call: StepCall, place: RunningStep, outcome: Outcome): Promise<void> {
  if (typeof outcome === 'object') {
    const answered = call.db.updateTable('bulk_import_relations').set({ silent_since: null, tries: 0 });
    await answered.where('id', '=', place.step.id).execute();
    await enqueueStep(call.db, place.step.id, outcome.wait_s);
    return;
  }
  await endStep(call.db, placeIn(place), outcome);
  await removeFiles(call.downloads, place.step.id);
}

async function perform(job: JobCall<{ step_id: number }>, place: RunningStep, step: Step): Promise<void> {
  const { input: _, signal, log, ...services } = job;
  const { db } = services;
  const began_ms = performance.now();
  const correlation_id = randomUUID();
  const token = unsealToken(services.secrets, place.migration.access_token);
  const { allow_local_requests_from_web_hooks_and_services: may_be_local } = await settingsOf(db);
  const source = {
    url: place.migration.source_url,
    token: token ?? '',
    may_be_local,
    user_id: place.migration.user_id,
    silence_ms,
  };
  const call: StepCall = {
    ...services,
    ...place,
    correlation_id,
    signal,
    source: { ...source, signal },
    log: log.child({
      correlation_id,
      bulk_import_id: place.migration.id,
      entity_id: place.entity.id,
      relation: step.name,
    }),
    isOverdue: () => performance.now() - began_ms > turn_ms,
  };
  try {
    if (token === undefined)
      throw new StepFailed('NetworkError', 'The token for the source cannot be decrypted.', 'extractor');
    await settle(call, place, await step.run(call));
  } catch (error) {
    if (error instanceof Ended || signal.reason instanceof Ended) return removeFiles(call.downloads, place.step.id);
    const fatal = fatalOf(signal.aborted ? signal.reason : error);
    if (!fatal && (signal.aborted || isUnavailable(error))) throw error;
    if (fatal) await failStep(call, place, fatal);
    else if (error instanceof Unanswered) await waitForSource(call, place, error);
    else if (await countError(call, place, error)) throw error;
  }
}

/** Resumes started steps without a job: the setting was off, or a queue was lost. */
async function resumeLost(db: Database): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select id from bulk_import_relations steps where state = 'started' and not exists (
      select from graphile_worker._private_jobs jobs join graphile_worker._private_tasks tasks on tasks.id = jobs.task_id
       where identifier = 'run_bulk_import_step' and (payload->>'step_id')::bigint = steps.id and (attempts < max_attempts or locked_at is not null))`.execute(
    db,
  );
  for (const { id } of rows) await enqueueStep(db, id);
}

/** Removes the files of steps that are no longer running: a process can stop before it removes them. */
async function removeLeftFiles(db: Database, downloads: string): Promise<void> {
  const ids = await stepsWithFiles(downloads);
  if (ids.length === 0) return;
  const steps = db
    .selectFrom('bulk_import_relations')
    .select('id')
    .where('id', 'in', ids)
    .where('state', '=', 'started');
  const used = new Set((await steps.execute()).map(({ id }) => id));
  for (const id of ids) if (!used.has(id)) await removeFiles(downloads, id);
}

/** Advances migrations, and resumes those without a job. */
const continueMigrations: Poll = {
  name: 'continue migrations',
  every_ms: 2000,
  run: async ({ db, downloads }) => {
    await removeLeftFiles(db, downloads);
    if (!(await settingsOf(db)).bulk_import_enabled) return false;
    const running = db.selectFrom('bulk_imports').select('id').where('state', 'in', ['created', 'started']);
    for (const { id } of await running.orderBy('id').execute()) await advance(db, id);
    await endStale(db);
    await resumeLost(db);
    return false;
  },
};

const eraseTokens = job('erase_bulk_import_tokens', {
  input: {},
  retries: 3,
  schedule: '*/10 * * * *',
  run: async ({ db }) => {
    await sql`
      update bulk_imports set access_token = null where access_token is not null and ended_at < now() - interval '24 hours'`.execute(
      db,
    );
  },
});

interface Summary {
  user_id: number;
  source_url: string;
  state: string;
}

const tell = tellOfEnd.runBy(async ({ db, mailer, url, input: { bulk_import_id } }) => {
  const migrations = db
    .selectFrom('bulk_imports')
    .select(['user_id', 'source_url', 'state'])
    .where('id', '=', bulk_import_id);
  const migration: Summary | undefined = await migrations.executeTakeFirst();
  const to = migration && (await recipientFor(db, migration.user_id));
  if (!migration || !to) return;
  const { rows } = await sql<{ name: string; source: number; imported: number }>`
    select name, sum((count->>'source')::bigint)::bigint as source, sum((count->>'imported')::bigint)::bigint as imported
      from bulk_import_entities entities join bulk_import_relations on entity_id = entities.id, jsonb_each(counts) each(name, count)
     where bulk_import_id = ${bulk_import_id} group by name order by name`.execute(db);
  const { rows: failed } = await sql<{ exception_class: string; count: number }>`
    select exception_class, sum(coalesce(more, 1))::bigint as count
      from bulk_import_failures failures join bulk_import_entities entities on entities.id = entity_id
     where bulk_import_id = ${bulk_import_id} group by exception_class order by exception_class`.execute(db);
  const ends: Record<string, string> = {
    finished: 'has finished',
    timeout: 'has run into a timeout',
    failed: 'has failed',
  };
  await mailer.send({
    to,
    id: `bulk-import-${bulk_import_id}-end-${migration.state}`,
    subject: `Your migration from ${new URL(migration.source_url).host} ${ends[migration.state] ?? 'has ended'}`,
    paragraphs: [
      `The migration ${bulk_import_id} from ${migration.source_url} ${ends[migration.state] ?? 'has ended'}.`,
      { facts: rows.map(({ name, source, imported }) => [name, `${imported} of ${source} imported`] as const) },
      failed.length === 0
        ? 'There were no failures.'
        : {
            facts: failed.map(({ exception_class, count }) => [`Failures: ${exception_class}`, String(count)] as const),
          },
      'Webhooks, CI/CD variables, keys, tokens, to-do items and subscriptions are not copied.',
      { link: 'Failures and counts of each entity', url: `${url}/api/v4/bulk_imports/${bulk_import_id}/entities` },
    ],
  });
});

/**
 * The jobs and polls that run migrations.
 * @param relations the relations that are imported
 */
export function bulkImportWork(relations: Relations): { jobs: readonly AnyJob[]; polls: readonly Poll[] } {
  const stepOf = stepsOf(relations);
  const run = runStep.runBy({
    confirm,
    run: async (call) => {
      if (!(await settingsOf(call.db)).bulk_import_enabled) return;
      const place = await placeOf(call.db, call.input.step_id);
      if (place) await perform(call, place, stepOf(place.entity.entity_type, place.step.relation));
    },
  });
  return { jobs: [run, eraseTokens, tell], polls: [continueMigrations] };
}

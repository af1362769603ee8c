/** Starts the pipelines of schedules (docs/reference/pipeline_schedules.md#when-they-run). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { callerInJob, levels, mayUse, projectFor } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id, nullable } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { planPipeline, storePlanned } from '../running/start_actions.ts';
import { mayRunOn } from './access.ts';
import { tellOfStop } from './mail_jobs.ts';
import { variablesOf } from './queries.ts';
import { nextRun } from './rules.ts';

/** Switches a schedule off, because its owner may not run pipelines any more. */
const switchOff = (db: Database, id: number): Promise<void> =>
  db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('pipeline_schedules')
      .set({ active: false, updated_at: sql<string>`now()` })
      .where('id', '=', id)
      .where('active', '=', true)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) await tellOfStop.enqueue(tx, { schedule_id: id });
  });

/** Enqueued when a schedule is due, and when somebody plays it. */
export const runSchedule = job('run_pipeline_schedule', {
  input: {
    schedule_id: Id,
    /** Who plays it; null when it is due. */
    played_by: nullable(Id),
    requested_as: Type.String(),
  },
  retries: 3,
  run: async ({ input, log: _log, signal: _signal, ...services }) => {
    const { db } = services;
    const { schedule_id, played_by, requested_as } = input;
    const schedule = await db
      .selectFrom('pipeline_schedules')
      .select(['project_id', 'owner_id', 'description', 'ref', 'active', 'inputs'])
      .where('id', '=', schedule_id)
      .executeTakeFirst();
    if (!schedule || (played_by === null && !schedule.active)) return;
    const caller = await callerInJob(services, played_by ?? schedule.owner_id);
    const project = caller && (await projectFor(db, caller, String(schedule.project_id)));
    const isMember = project !== undefined && project.access_level >= levels.developer;
    if (!caller || !isMember || !(await mayRunOn({ db, project, caller }, schedule.ref))) {
      if (played_by === null) await switchOff(db, schedule_id);
      return;
    }
    if (project.read_only || !mayUse(project, 'repository') || !mayUse(project, 'builds')) return;
    const given = await variablesOf(services, schedule_id);
    const asked = {
      ...{ source: 'schedule' as const, ref: schedule.ref, requested_as, schedule_id },
      variables: given.flatMap(({ value, key, variable_type }) =>
        value === null ? [] : { key, value, variable_type },
      ),
      inputs: schedule.inputs as Record<string, unknown>,
      predefined: { CI_PIPELINE_SCHEDULE_DESCRIPTION: schedule.description },
    };
    await storePlanned(services, await planPipeline(services, { project, caller }, asked));
  },
});

/** The most schedules that one transaction plans anew. */
const batch = 100;

/** @returns whether there may be more */
const startSome = (db: Database): Promise<boolean> =>
  db.transaction().execute(async (tx) => {
    const due = await tx
      .selectFrom('pipeline_schedules')
      .select(['id', 'cron', 'cron_timezone', 'next_run_at'])
      .where('active', '=', true)
      .where('next_run_at', '<=', sql<string>`now()`)
      .orderBy('next_run_at')
      .limit(batch)
      .forUpdate()
      .skipLocked()
      .execute();
    if (due.length === 0) return false;
    const now = new Date();
    const planned = due.map(({ next_run_at: last_run_at, ...each }) => ({
      id: each.id,
      last_run_at,
      next_run_at: nextRun({ ...each, last_run_at }, now),
    }));
    await sql`
      update pipeline_schedules set last_run_at = planned.last_run_at, next_run_at = planned.next_run_at
        from jsonb_to_recordset(${JSON.stringify(planned)}::jsonb) planned(id bigint, last_run_at timestamptz, next_run_at timestamptz)
       where pipeline_schedules.id = planned.id`.execute(tx);
    await runSchedule.enqueueEach(
      tx,
      planned.map(({ id, last_run_at }) => ({
        ...{ schedule_id: id, played_by: null, requested_as: `schedule ${id} ${last_run_at}` },
      })),
    );
    return due.length === batch;
  });

export const startSchedules = job('start_pipeline_schedules', {
  input: {},
  retries: 0,
  schedule: '* * * * *',
  run: async ({ db, signal }) => {
    while (!signal.aborted && (await startSome(db)));
  },
});

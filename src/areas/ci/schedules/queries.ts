/** Queries for schedules of pipelines. */
import { type RawBuilder, sql } from 'kysely';
import type { Static } from 'typebox';
import type { Database } from '../../../db/index.ts';
import { found, type Services } from '../../../http/index.ts';
import { type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import { type PipelineScheduleDetail, presentSchedule } from './present.ts';

/** The purpose that values of their variables are sealed with. */
export const valuePurpose = 'pipeline schedule variable';

const owner: RawBuilder<UserBasicRow> = sql`(select ${userBasicJson('users')} from users where users.id = owner_id)`;

const columns = [
  ...(['id', 'description', 'ref', 'cron', 'cron_timezone', 'next_run_at', 'active', 'inputs'] as const),
  ...(['created_at', 'updated_at'] as const),
] as const;

/** The schedules of a project. */
export const schedulesOf = (db: Database, project_id: number) =>
  db.selectFrom('pipeline_schedules').select(columns).select(owner.as('owner')).where('project_id', '=', project_id);

/** The variables of a schedule, by key. */
export async function variablesOf({ db, secrets }: Pick<Services, 'db' | 'secrets'>, schedule_id: number) {
  const query = db.selectFrom('pipeline_schedule_variables').select(['key', 'value', 'variable_type']);
  const rows = await query.where('schedule_id', '=', schedule_id).orderBy('key').execute();
  return rows.map(({ key, value, variable_type }) => ({
    key,
    variable_type: variable_type as 'env_var' | 'file',
    raw: false,
    value: secrets.unseal(valuePurpose, value) ?? null,
  }));
}

type LastPipeline = Static<typeof PipelineScheduleDetail>['last_pipeline'];

const lastPipeline: RawBuilder<LastPipeline> = sql`(
  select jsonb_build_object('id', last.id, 'iid', last.iid, 'sha', last.sha, 'ref', last.ref, 'status', last.status)
    from pipelines last where last.schedule_id = pipeline_schedules.id order by last.id desc limit 1)`;

/**
 * A schedule as a reply.
 * @param shows_variables whether the caller may see what its pipelines are given
 * @throws ApiError 404
 */
export async function scheduleReply(
  services: Pick<Services, 'db' | 'secrets' | 'url'>,
  project_id: number,
  id: number,
  shows_variables: boolean,
): Promise<Static<typeof PipelineScheduleDetail>> {
  const query = schedulesOf(services.db, project_id).select(lastPipeline.as('last_pipeline')).where('id', '=', id);
  const { last_pipeline, ...row } = found('Pipeline Schedule', await query.executeTakeFirst());
  return {
    ...presentSchedule(services.url, row),
    last_pipeline,
    ...(shows_variables && { variables: await variablesOf(services, id) }),
  };
}

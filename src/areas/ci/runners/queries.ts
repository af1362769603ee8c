/** Reading runners and the places that they belong to. */
import { sql } from 'kysely';
import { placeOfRegistration, tokenDigest } from '../../../access/index.ts';
import { type Database, type Slots, statement } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import type { RunnerType } from '../../code/runners/index.ts';
import { legacySystem, type RunnerSettings } from './rules.ts';

/** A runner that has shown its token, and the manager with which it calls, unless that is new. */
export interface Runner extends Pick<RunnerSettings, 'paused' | 'access_level' | 'run_untagged' | 'maximum_timeout'> {
  id: number;
  description: string;
  runner_type: RunnerType;
  /** The group of a runner of a group. */
  namespace_id: number | null;
  is_registered: boolean;
  tag_list: string[];
  token_expires_at: string | null;
  /** Another one after each change of the runner or of its projects. */
  cursor: string;
  /** How long a request of a runner waits for a job. */
  wait_s: number;
  manager: {
    id: number;
    system_id: string /** Whether its last contact was written within a minute. */;
    is_fresh: boolean;
  } | null;
}

interface Asked {
  digest: Buffer;
  system_id: string;
}

const runnersByToken = statement(
  ({ digest, system_id }: Slots<Asked>) => sql<Runner>`
    select runners.id, description, runner_type, namespace_id, is_registered, paused, access_level, run_untagged, tag_list, maximum_timeout, token_expires_at,
           (extract(epoch from updated_at) * 1000000)::bigint::text as cursor, (select ci_long_poll_seconds from application_settings) as wait_s,
           case when manager.id is not null then json_build_object(
             'id', manager.id, 'system_id', manager.system_id, 'is_fresh', coalesce(manager.contacted_at > now() - interval '1 minute', false)) end as manager
      from runners left join runner_managers manager on runner_id = runners.id and system_id = ${system_id}
     where token_digest = ${digest} and (token_expires_at is null or token_expires_at > now())`,
);

/**
 * The runner whose authentication token this is; undefined for unknown and expired ones (docs/reference/runners.md#tokens).
 * @param system_id of the manager with which it calls, so that `touchManager` need not look for it
 */
export async function runnerOf(
  { db }: Pick<Services, 'db'>,
  token: string,
  system_id = legacySystem,
): Promise<Runner | undefined> {
  const [runner] = await runnersByToken(db, { digest: tokenDigest(token), system_id });
  return runner;
}

/** Where runners belong: one of the two is set, or neither for the instance. */
export interface RunnerPlace {
  namespace_id: number | null;
  project_id: number | null;
}

/**
 * The place whose registration token this is now.
 * @returns `allows`: whether runners may register there
 */
export async function placeToRegister(
  services: Pick<Services, 'db' | 'secrets'>,
  token: string,
): Promise<(RunnerPlace & { allows: boolean }) | undefined> {
  const place = placeOfRegistration(services, token);
  if (!place) return undefined;
  const { kind, id, version } = place;
  const [namespace_id, project_id] = [kind === 'group' ? id : null, kind === 'project' ? id : null];
  const { rows } = await sql<{ allows: boolean; is_current: boolean }>`
    select allow_runner_registration_token and not exists (
             select from namespaces place join namespaces above on above.id = any(place.traversal_ids)
              where place.id = coalesce(${namespace_id}::bigint, (select namespace_id from projects where id = ${project_id}::bigint))
                and not above.allow_runner_registration_token) as allows,
           case ${kind} when 'group' then (select runner_registration_version from namespaces where id = ${namespace_id}::bigint and kind = 'group')
                        when 'project' then (select runner_registration_version from projects where id = ${project_id}::bigint)
                        else runner_registration_version end is not distinct from ${version}::integer as is_current
      from application_settings`.execute(services.db);
  const [row] = rows;
  return row?.is_current ? { namespace_id, project_id, allows: row.allows } : undefined;
}

/** When the token of a runner that is made or gets another one now expires: after the shortest interval of those that apply. */
export const expiryAt = ({ namespace_id, project_id }: RunnerPlace) => sql<string | null>`
  now() + make_interval(secs => least(
    (select runner_token_expiration_interval from application_settings),
    (select min(above.runner_token_expiration_interval) from namespaces place join namespaces above on above.id = any(place.traversal_ids)
      where place.id = coalesce(${namespace_id}::bigint, (select namespace_id from projects where id = ${project_id}::bigint))),
    (select runner_token_expiration_interval from projects where id = ${project_id}::bigint)))`;

/** Where a runner belongs. */
export async function placeOf(db: Database, id: number): Promise<RunnerPlace> {
  const { rows } = await sql<RunnerPlace>`
    select namespace_id, (select project_id from runner_projects where runner_id = runners.id order by is_owner desc, project_id limit 1) as project_id
      from runners where id = ${id}`.execute(db);
  return rows[0] ?? { namespace_id: null, project_id: null };
}

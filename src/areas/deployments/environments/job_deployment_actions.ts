/** Deployments of jobs: they follow their jobs (docs/reference/environments.md#deployments-by-jobs). */
import { sql } from 'kysely';
import { type Database, isAmong, nextIids } from '../../../db/index.ts';
import type { Tier } from '../protected_environments/rules.ts';
import { addEnvironments } from './actions.ts';
import { externalUrlReasons, longest_s } from './rules.ts';

/** A job that will deploy. */
export interface DeployingJob {
  job_id: number;
  /** The name of the environment. */
  environment: string;
  tier: Tier | undefined;
  /** The name of the job that stops the environment. */
  on_stop: string | null;
  user_id: number | null;
  ref: string;
  tag: boolean;
  sha: string;
}

/** The environments of some names, which are created where they are missing. */
async function environmentsNamed(tx: Database, project_id: number, jobs: readonly DeployingJob[]) {
  const tiers = new Map(jobs.map(({ environment, tier }) => [environment, tier]));
  const query = tx.selectFrom('environments').select(['id', 'name', 'tier']).where('project_id', '=', project_id);
  const named = query.where(isAmong('name', [...tiers.keys()], 'text[]'));
  const known = await named.execute();
  const missing = new Map(tiers);
  for (const { name } of known) missing.delete(name);
  if (missing.size > 0)
    await addEnvironments(
      tx,
      project_id,
      [...missing].map(([name, tier]) => ({ name, ...(tier && { tier }) })),
    );
  const rows = missing.size > 0 ? await named.execute() : known;
  return new Map(rows.map((row) => [row.name, row]));
}

/**
 * Adds deployments of jobs, which are created.
 * @param jobs of one project, with fit names of environments, and without deployments
 * @throws ApiError 400 if the project would have too many environments
 */
export async function addJobDeployments(
  tx: Database,
  project_id: number,
  jobs: readonly DeployingJob[],
): Promise<void> {
  if (jobs.length === 0) return;
  const environments = await environmentsNamed(tx, project_id, jobs);
  const first = await nextIids(tx, { project_id }, 'deployments', jobs.length);
  const rows = jobs.map(({ environment: name, tier: _tier, ...job }, index) => {
    const { id, tier } = environments.get(name)!;
    const place = { project_id, environment_id: id, made_as_name: name, made_as_tier: tier };
    return { ...job, ...place, iid: first + index, status: 'created' };
  });
  await tx.insertInto('deployments').values(rows).execute();
}

/** Marks deployments that begin during a freeze. */
export async function markFrozen(tx: Database, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const marked = tx.updateTable('deployments').set({ during_freeze: true });
  await marked.where(isAmong('id', ids, 'bigint[]')).execute();
}

/** What a job that has succeeded says of its environment. */
export interface Outcome {
  /** The address at which people find what was deployed. */
  url: string | undefined;
  /** Seconds after which the environment stops. */
  auto_stop_in_s: number | undefined;
}

/**
 * Makes an environment available that a job has prepared or deployed to.
 * @param tx a transaction
 */
export async function renewEnvironment(
  tx: Database,
  environment_id: number,
  { url, auto_stop_in_s }: Outcome,
): Promise<void> {
  const external_url = url !== undefined && url !== '' && externalUrlReasons(url).length === 0 ? url : null;
  const span_s = auto_stop_in_s === undefined ? null : Math.min(auto_stop_in_s, longest_s);
  await sql`
    update environments
       set state = 'available', updated_at = now(), auto_delete_at = null, external_url = coalesce(${external_url}::text, external_url),
           auto_stop_in_s = coalesce(${span_s}::bigint, auto_stop_in_s), auto_stop_at = now() + coalesce(${span_s}::bigint, auto_stop_in_s) * interval '1 second'
     where id = ${environment_id}`.execute(tx);
}

/** Writes the state of environments whose jobs that stop them have ended: the ones of jobs that have failed are there still. */
export async function concludeStops(
  tx: Database,
  stops: readonly { environment_id: number; has_stopped: boolean }[],
): Promise<void> {
  if (stops.length === 0) return;
  await sql`
    update environments set state = case when has_stopped then 'stopped' else 'available' end, updated_at = now(), auto_stop_at = null
      from jsonb_to_recordset(${JSON.stringify(stops)}::jsonb) given(environment_id bigint, has_stopped boolean)
     where environments.id = given.environment_id and (has_stopped and state <> 'stopped' or state = 'stopping')`.execute(
    tx,
  );
}

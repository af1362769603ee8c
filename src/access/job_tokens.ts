/** Tokens of jobs as credentials: while its job runs, a token acts for the user who runs it, never as more than a Developer (docs/reference/job_tokens.md). */
import { sql } from 'kysely';
import type { Caller } from '../http/endpoint.ts';
import { unauthorized } from '../http/errors.ts';
import type { Plan } from '../http/plans.ts';
import type { Services } from '../services/index.ts';
import { callerFrom, refuseInactive, type User, userColumns } from './callers.ts';
import { planInForce } from './plans.ts';
import { newTokenValue, tokenDigest } from './tokens.ts';

const prefix = 'glcbt-';

export const newJobToken = (): string => newTokenValue(prefix);

export const isJobToken = (token: string): boolean => token.startsWith(prefix);

/** The username that git sends with a job token. */
export const jobTokenUsername = 'gitlab-ci-token';

/** The endpoints that accept job tokens. All others refuse them. */
const operations: ReadonlySet<string> = new Set([
  ...['getJobOfToken', 'getPipeline', 'getChangelog'],
  ...[
    'getJobArtifacts',
    'listJobArtifactTree',
    'getJobArtifactFile',
    'getLatestJobArtifacts',
    'getLatestJobArtifactFile',
  ],
  ...['createDeployment', 'getDeployment', 'listDeployments', 'updateDeployment'],
  ...['createEnvironment', 'getEnvironment', 'listEnvironments'],
  ...['listReleases', 'getRelease', 'getLatestRelease', 'getBelowLatestRelease', 'downloadReleaseAsset'],
  ...['createRelease', 'updateRelease', 'deleteRelease', 'readReleaseEvidence', 'collectReleaseEvidence'],
  ...[
    'getTerraformState',
    'updateTerraformState',
    'deleteTerraformState',
    'lockTerraformState',
    'unlockTerraformState',
  ],
  ...['listSecureFiles', 'getSecureFile', 'downloadSecureFile'],
  ...['getTerraformStateVersion', 'deleteTerraformStateVersion'],
  ...['listReleaseLinks', 'getReleaseLink', 'createReleaseLink', 'updateReleaseLink', 'deleteReleaseLink'],
]);

/** Whether an endpoint accepts job tokens. */
export const acceptsJobTokens = (operation: string | undefined): boolean =>
  operation !== undefined && operations.has(operation);

interface JobTokenRow extends User {
  job_id: number;
  project_id: number;
  pipeline_id: number;
  counted: boolean;
  plan: Plan;
}

/**
 * The caller for a job token.
 * @param name the value of the token, or the ID of its job for a credential that was derived from it
 * @param scopes what it may be used for at this door
 * @throws ApiError 401 unless the job is running and its user active
 */
export async function callerOfJobToken(
  { db, url }: Pick<Services, 'db' | 'url'>,
  name: string | number,
  scopes: readonly string[],
): Promise<Caller> {
  const { rows } = await sql<JobTokenRow>`
    select job.id as job_id, job.project_id, job.pipeline_id, (select counts_requests from application_settings) as counted, ${planInForce} as plan,
           ${userColumns}
      from job_runs join commit_statuses job on job.id = job_runs.job_id join users on users.id = job.user_id
     where ${typeof name === 'number' ? sql`job.id = ${name}` : sql`job_runs.token_digest = ${tokenDigest(name)}`} and job_runs.ended_at is null`.execute(
    db,
  );
  const row = rows[0];
  if (row?.state !== 'active') throw unauthorized();
  refuseInactive(row, url);
  const { job_id: id, project_id, pipeline_id, counted, plan } = row;
  const caller = callerFrom(row, { token: { id, scopes, kind: 'job' }, sudo: false, counted, plan }, url);
  return { ...caller, admin: false, job: { id, project_id, pipeline_id, of_admin: row.admin } };
}

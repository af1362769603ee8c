/** Effects of a deployment: its commit is kept, and the merge requests that it contains are linked to it (docs/reference/environments.md#merge-requests). */
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import { isAmong } from '../../../../db/index.ts';
import { keepAroundRef, listCommits, repositoryOf, resolveCommit } from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import { keepRefs } from '../../../code/repository/index.ts';
import { followDeployment } from '../../../deployments/environments/index.ts';

/** The most commits examined: for the first deployment to an environment, and between two deployments. */
const [mostAtFirst, most] = [100, 10_000];

interface Deployed {
  id: number;
  project_id: number;
  storage: string;
  environment_id: number;
  tier: string;
  ref: string;
  tag: boolean;
  sha: string;
  status: string;
  finished_at: string | null;
}

async function deployedOf(db: Database, id: number): Promise<Deployed | undefined> {
  return db
    .selectFrom('deployments')
    .innerJoin('environments', 'environments.id', 'deployments.environment_id')
    .innerJoin('projects', 'projects.id', 'deployments.project_id')
    .select(['deployments.id', 'deployments.project_id', 'projects.storage', 'deployments.environment_id'])
    .select(['environments.tier', 'deployments.ref', 'deployments.tag', 'deployments.sha'])
    .select(['deployments.status', 'deployments.finished_at'])
    .where('deployments.id', '=', id)
    .executeTakeFirst();
}

/** The commit of the previous successful deployment to its environment. */
async function shaBefore(db: Database, { id, environment_id }: Deployed): Promise<string | undefined> {
  const { rows } = await sql<{ sha: string }>`
    select earlier.sha from deployments earlier join deployments on deployments.id = ${id}
     where earlier.environment_id = ${environment_id} and earlier.status = 'success'
       and (earlier.finished_at, earlier.id) < (deployments.finished_at, deployments.id)
     order by earlier.finished_at desc, earlier.id desc limit 1`.execute(db);
  return rows[0]?.sha;
}

/** The commits that a deployment adds to its environment. */
async function broughtCommits(services: Pick<Services, 'db' | 'storages'>, deployed: Deployed): Promise<string[]> {
  const repository = repositoryOf(services, { id: deployed.project_id, storage: deployed.storage });
  const before = await shaBefore(services.db, deployed);
  // A commit that is gone from the repository counts as none.
  const base = before === undefined ? undefined : await resolveCommit(repository, before);
  const commits = await listCommits(repository, {
    from: [deployed.sha],
    not: base === undefined ? [] : [base],
    limit: base === undefined ? mostAtFirst : most,
  });
  return commits.map(({ id }) => id);
}

async function linkMergeRequests(tx: Database, deployed: Deployed, shas: readonly string[]): Promise<void> {
  const { id, project_id, environment_id, ref, tag, tier, finished_at } = deployed;
  const { rows } = await sql<{ merge_request_id: number }>`
    insert into deployment_merge_requests (deployment_id, merge_request_id, environment_id)
    select ${id}, merge_requests.id, ${environment_id} from merge_requests
     where project_id = ${project_id} and state = 'merged' and (${tag} or target_branch = ${ref})
       and merge_requests.id in (
         select merge_requests.id from merge_requests where project_id = ${project_id} and ${isAmong('merge_commit_sha', shas, 'text[]')}
         union all select merge_requests.id from merge_requests where project_id = ${project_id} and ${isAmong('squash_commit_sha', shas, 'text[]')}
         union all select merge_request_id from merge_request_commits where ${isAmong('sha', shas, 'text[]')})
     order by merge_requests.id
    on conflict do nothing returning merge_request_id`.execute(tx);
  if (tier !== 'production' || rows.length === 0) return;
  const ids = rows.map(({ merge_request_id }) => merge_request_id);
  await tx
    .updateTable('merge_requests')
    .set({ first_deployed_to_production_at: finished_at })
    .where(isAmong('id', ids, 'bigint[]'))
    .where('first_deployed_to_production_at', 'is', null)
    .execute();
}

/** Enqueued by the transaction that records a deployment or changes its status. Running it again changes nothing. */
export const followDeployments = followDeployment.runBy(async ({ input: { deployment_id }, ...services }) => {
  const deployed = await deployedOf(services.db, deployment_id);
  if (!deployed) return;
  const { project_id: id, storage, sha } = deployed;
  await services.db
    .transaction()
    .execute((tx) => keepRefs(tx, services, { id, storage }, new Map([[keepAroundRef(sha), sha]])));
  if (deployed.status !== 'success') return;
  const shas = await broughtCommits(services, deployed);
  await services.db.transaction().execute((tx) => linkMergeRequests(tx, deployed, shas));
});

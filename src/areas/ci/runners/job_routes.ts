/** The jobs that a runner has, or had. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { projectFor } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Caller, Direction, get, Id, optional, pageOf, type Services } from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { Job, jobsOf, presentJobs } from '../../code/jobs/index.ts';
import { hasReadablePipelines, isShownPipeline, states } from '../../code/pipelines/index.ts';
import { runnerInsider } from './access.ts';
import { SystemId } from './parameters.ts';

/** The jobs of a runner in projects whose pipelines the caller may read. */
const jobsOfRunner = (db: Database, caller: Caller, runner_id: number) =>
  db
    .selectFrom('commit_statuses')
    .select(['commit_statuses.id', 'commit_statuses.project_id'])
    .where('runner_id', '=', runner_id)
    .where('pipeline_id', 'is not', null)
    .where(sql<boolean>`exists (
      select from projects join pipelines on pipelines.id = commit_statuses.pipeline_id
       where projects.id = commit_statuses.project_id and ${hasReadablePipelines(caller)} and ${isShownPipeline(caller)})`);

/** Jobs of several projects as replies, in their order. */
async function presentAll(services: Services, caller: Caller, rows: readonly { id: number; project_id: number }[]) {
  const ids = Map.groupBy(rows, ({ project_id }) => project_id);
  const shown = await Promise.all(
    [...ids].map(async ([project_id, of]) => {
      const project = await projectFor(services.db, caller, String(project_id));
      if (!project) return [];
      const named = of.map(({ id }) => id);
      return presentJobs(services, project, await jobsOf(services.db, project).where('id', 'in', named).execute());
    }),
  );
  const byId = new Map(shown.flat().map((job) => [job.id, job]));
  return rows.flatMap(({ id }) => byId.get(id) ?? []);
}

export const runnerJobRoutes = [
  get('/runners/:runner_id/jobs', {
    operation: 'listRunnerJobs',
    summary: 'List the jobs of a runner that the caller may read, newest first',
    access: runnerInsider,
    scopes: ['manage_runner'],
    input: {
      runner_id: Id,
      status: optional(Type.Enum([...states])),
      system_id: optional(SystemId),
      order_by: optional(Type.Enum(['id'])),
      sort: optional(Direction),
      ...paging,
    },
    returns: pageOf(Job),
    handle: async ({ caller, runner, input, ...services }) => {
      const { status, system_id, sort = 'desc' } = input;
      const query = jobsOfRunner(services.db, caller, runner.id)
        .$if(status !== undefined, (q) => q.where('commit_statuses.status', '=', status!))
        .$if(system_id !== undefined, (q) =>
          q.where(
            sql<boolean>`runner_manager_id in (select id from runner_managers where runner_id = ${runner.id} and system_id = ${system_id})`,
          ),
        )
        .orderBy('commit_statuses.id', sort);
      const page = await paginate(services.db, query, input);
      return { ...page, items: await presentAll(services, caller, page.items) };
    },
  }),
];

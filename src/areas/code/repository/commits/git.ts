/** One commit with its statistics and status. */
import type { Static } from 'typebox';
import type { MaybeCaller, Project } from '../../../../access/index.ts';
import { commitStats, readCommit, repositoryOf } from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import { headPipeline } from '../../pipelines/queries.ts';
import { statusOfCommit } from '../../pipelines/status_queries.ts';
import { type CommitDetail, presentCommit } from '../present.ts';

/**
 * A commit as `CommitDetail`.
 * @param by.caller the newest pipeline is included if the caller may read it
 * @param id full id of a commit of the project
 * @param options.stats whether to count the changed lines
 */
export async function commitDetail(
  services: Services,
  { caller, project }: { caller: MaybeCaller; project: Project },
  id: string,
  { stats: isCounted }: { stats: boolean },
): Promise<Static<typeof CommitDetail>> {
  const repository = repositoryOf(services, project);
  const [stats] = isCounted ? await commitStats(repository, [id]) : [];
  const pipeline = await headPipeline(services, caller, { projects: [project.id], sha: id });
  return {
    ...presentCommit(services.url, project, await readCommit(repository, id)),
    ...(stats ? { stats } : {}),
    status: await statusOfCommit(services.db, project, id),
    project_id: project.id,
    last_pipeline: pipeline?.basic ?? null,
  };
}

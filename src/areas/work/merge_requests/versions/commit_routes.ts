/** The merge requests of a commit, and the context commits of a merge request (docs/reference/merge_requests.md#commits). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { mergeRequestEditor, mergeRequestsVisible, mergeRequestVisible } from '../../../../access/index.ts';
import { repositoryOf, resolveCommit } from '../../../../git/index.ts';
import { CommaList, del, found, get, nothing, one, optional, pageOf, post } from '../../../../http/index.ts';
import { bounded, type Filter, numberedPaging, pageOfArray, paging } from '../../../../lists/index.ts';
import { Commit, presentCommit } from '../../../code/repository/index.ts';
import { listMergeRequests } from '../lists/queries.ts';
import { MergeRequestInList } from '../present.ts';
import { contextTexts } from '../rules.ts';
import { addContextCommits, commitsNamed, contextCommits, removeContextCommits } from './context_commit_actions.ts';

/** The merge requests of a project that contain a commit, or were merged by it: one lookup in each of three indexes. */
const concerns = (project_id: number, sha: string): Filter =>
  bounded(sql`
  merge_requests.id in (select merge_request_id from merge_request_commits where sha = ${sha}
                        union all select id from merge_requests where project_id = ${project_id} and merge_commit_sha = ${sha}
                        union all select id from merge_requests where project_id = ${project_id} and squash_commit_sha = ${sha})`);

const path = '/projects/:id/merge_requests/:merge_request_iid/context_commits';

/** The parameter `commits`. */
const shas = CommaList(Type.String({ description: 'Commit IDs, at most 20' }));

export const mergeRequestCommitRoutes = [
  get('/projects/:id/repository/commits/:sha/merge_requests', {
    operation: 'listMergeRequestsOfCommit',
    summary: 'List the merge requests of a project that bring a commit or were merged by it, newest first',
    access: mergeRequestsVisible,
    input: {
      sha: Type.String({ description: 'Commit, branch or tag' }),
      state: optional(Type.Enum(['opened', 'closed', 'locked', 'merged'])),
      ...paging,
    },
    returns: pageOf(MergeRequestInList),
    refusals: { 404: '404 Commit Not Found' },
    handle: async ({ caller, project, plan, input, ...services }) => {
      const sha = found('Commit', await resolveCommit(repositoryOf(services, project), input.sha));
      const filters = input.state === undefined ? {} : { state: input.state };
      return listMergeRequests(
        services,
        { caller, plan, scope: { project }, filters, only: concerns(project.id, sha) },
        input,
      );
    },
  }),
  get(path, {
    operation: 'listContextCommits',
    summary: 'List the context commits of a merge request, newest first',
    access: mergeRequestVisible,
    input: numberedPaging,
    returns: pageOf(Commit),
    handle: async ({ project, merge_request, input, ...services }) => {
      const page = pageOfArray(await contextCommits(services, project, merge_request.id), input);
      return { ...page, items: page.items.map((commit) => presentCommit(services.url, project, commit)) };
    },
  }),
  post(path, {
    operation: 'createContextCommits',
    summary: 'Add context commits to a merge request',
    description: 'They are commits of the target project, which the merge request builds upon; at most 100 in all.',
    access: mergeRequestEditor,
    input: { commits: shas },
    returns: one(Type.Array(Commit)),
    refusals: { 400: Object.values(contextTexts) },
    handle: async ({ db, storages, url, project, merge_request, input }) => {
      const commits = await commitsNamed({ storages }, project, input.commits);
      await addContextCommits({ db, storages }, project, merge_request.id, commits);
      return commits.map((commit) => presentCommit(url, project, commit));
    },
  }),
  del(path, {
    operation: 'deleteContextCommits',
    summary: 'Remove context commits from a merge request',
    access: mergeRequestEditor,
    input: { commits: shas },
    returns: nothing,
    refusals: { 400: [contextTexts.many, contextTexts.unknown] },
    handle: async ({ db, storages, project, merge_request, input }) => {
      const commits = await commitsNamed({ storages }, project, input.commits);
      await removeContextCommits(db, merge_request.id, commits);
    },
  }),
];

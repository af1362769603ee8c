/** The content of merge requests: commits, diffs and versions (docs/reference/merge_requests.md#content). */
import { Type } from 'typebox';
import { mergeRequestReader, mergeRequestVisible } from '../../../../access/index.ts';
import { countCommits, listCommits, repositoryOf, streamDiff } from '../../../../git/index.ts';
import { bytes, forbidden, found, get, Id, one, optional, pageOf, post, resource } from '../../../../http/index.ts';
import { gitPaging, mapPage, pageAsked, pageOfArray, paginate, paging } from '../../../../lists/index.ts';
import { createForMergeRequest, startRefusals } from '../../../ci/running/index.ts';
import { Pipeline, PipelineDetail, pipelineReply, presentPipeline } from '../../../code/pipelines/index.ts';
import { Commit, Diff, diffsOf, presentCommit, uncached } from '../../../code/repository/index.ts';
import { mergeFacts } from '../branch_queries.ts';
import { MergeRequest, presentSingleMergeRequest } from '../present.ts';
import {
  changesOf,
  filesOf,
  lastVersion,
  presentVersion,
  presentVersionDetail,
  rangeOf,
  Version,
  VersionDetail,
  versionsOf,
} from './content_git.ts';
import { askedProject, builtOf } from './pipeline_actions.ts';
import { pipelinesOfMergeRequest } from './pipeline_queries.ts';

const path = '/projects/:id/merge_requests/:merge_request_iid';
const unidiff = Type.Boolean({ default: false, description: 'Include file headers in diffs' });

const MergeRequestChanges = resource('MergeRequestChanges', {
  ...MergeRequest.properties,
  changes: Type.Array(Diff),
  overflow: Type.Boolean({ description: 'Whether files or diffs are omitted' }),
});

const emptyPage = { items: [], page: 1, per_page: 20, has_more: false };

export const mergeRequestContentRoutes = [
  get(`${path}/commits`, {
    operation: 'listMergeRequestCommits',
    summary: 'List the commits of a merge request, newest first',
    access: mergeRequestVisible,
    input: gitPaging,
    returns: pageOf(Commit),
    handle: async ({ project, merge_request, input, ...services }) => {
      const version = await lastVersion(services.db, merge_request.id);
      if (!version) return emptyPage;
      const { page, per_page, offset } = pageAsked(input);
      const repository = repositoryOf(services, project);
      const range = { from: [version.head_commit_sha], not: [version.start_commit_sha] };
      const [total, commits] = await Promise.all([
        version.commits_count ?? countCommits(repository, range),
        listCommits(repository, { ...range, skip: offset, limit: per_page }),
      ]);
      const items = commits.map((commit) => presentCommit(services.url, project, commit));
      return { items, page, per_page, total, has_more: total > offset + per_page };
    },
  }),
  get(`${path}/changes`, {
    operation: 'getMergeRequestChanges',
    summary: 'Get a merge request with its diffs; deprecated, use the paged diffs',
    description:
      'At most 1,000 files and 10 MiB of diffs are returned; if there are more, `overflow` is set. A single diff above 200 KiB is omitted (`too_large`).',
    access: mergeRequestVisible,
    input: {
      unidiff,
      access_raw_diffs: Type.Boolean({
        default: false,
        description: 'Has no effect: diffs are always read from the repository',
      }),
    },
    returns: one(MergeRequestChanges),
    handle: async ({ caller, project, merge_request, input, ...services }) => {
      const [shown, version] = await Promise.all([
        presentSingleMergeRequest(services, caller, project, merge_request.id),
        lastVersion(services.db, merge_request.id),
      ]);
      if (!version) return { ...shown, changes: [], overflow: false };
      return { ...shown, ...(await changesOf(repositoryOf(services, project), version, input)) };
    },
  }),
  get(`${path}/diffs`, {
    operation: 'listMergeRequestDiffs',
    summary: 'List the diffs of a merge request by file',
    access: mergeRequestVisible,
    input: { unidiff, ...gitPaging },
    returns: pageOf(Diff),
    handle: async ({ db, storages, project, merge_request, input }) => {
      const version = await lastVersion(db, merge_request.id);
      if (!version) return emptyPage;
      const repository = repositoryOf({ storages }, project);
      const page = pageOfArray(await filesOf(repository, version), input);
      const items = await diffsOf(repository, rangeOf(version), page.items, { unidiff: input.unidiff, isPage: true });
      return { ...page, items };
    },
  }),
  get(`${path}/raw_diffs`, {
    operation: 'getMergeRequestRawDiffs',
    summary: 'Get all changes of a merge request as text',
    access: mergeRequestVisible,
    returns: bytes(['text/plain']),
    handle: async ({ db, storages, project, merge_request }) => {
      const version = await lastVersion(db, merge_request.id);
      const headers = { 'content-type': 'text/plain; charset=utf-8', ...uncached };
      if (!version) return { body: Buffer.alloc(0), headers };
      return { body: streamDiff(repositoryOf({ storages }, project), rangeOf(version)), headers };
    },
  }),
  get(`${path}/versions`, {
    operation: 'listMergeRequestVersions',
    summary: 'List the versions of a merge request, newest first',
    access: mergeRequestVisible,
    input: paging,
    returns: pageOf(Version),
    handle: async ({ db, merge_request, input }) =>
      mapPage(await paginate(db, versionsOf(db, merge_request.id).orderBy('id', 'desc'), input), presentVersion),
  }),
  get(`${path}/versions/:version_id`, {
    operation: 'getMergeRequestVersion',
    summary: 'Get a version of a merge request with its commits and diffs',
    access: mergeRequestVisible,
    input: { version_id: Id, unidiff },
    returns: one(VersionDetail),
    handle: async ({ db, storages, url, project, merge_request, input }) => {
      const version = await versionsOf(db, merge_request.id).where('id', '=', input.version_id).executeTakeFirst();
      return presentVersionDetail({ storages, url }, project, found(undefined, version), input);
    },
  }),
  get(`${path}/pipelines`, {
    operation: 'listMergeRequestPipelines',
    summary: 'List the pipelines of the heads that a merge request has had, newest first',
    access: mergeRequestVisible,
    input: paging,
    returns: pageOf(Pipeline),
    handle: async ({ caller, merge_request, input, ...services }) => {
      const query = pipelinesOfMergeRequest(services.db, caller, merge_request.id);
      return mapPage(await paginate(services.db, query, input), (row) =>
        presentPipeline(services.url, row.full_path, row),
      );
    },
  }),
  post(`${path}/pipelines`, {
    operation: 'createMergeRequestPipeline',
    summary: 'Create a pipeline for the head of a merge request',
    description:
      'For callers who may run pipelines in its source project, where it runs. That of a fork runs in the target project if the caller may run pipelines there and the project allows it.',
    access: mergeRequestReader,
    input: { async: optional(Type.Boolean({ description: 'Accepted, and without effect' })) },
    returns: one(PipelineDetail),
    refusals: { 400: startRefusals.map((text) => `base: ${text}`), 403: '403 Forbidden' },
    handle: async ({ caller, merge_request, input: _input, ...services }) => {
      const [facts] = await mergeFacts(services.db, [merge_request.id]);
      const project = facts && (await askedProject(services.db, caller, facts));
      const built = project && (await builtOf(services, caller, facts));
      if (!built) throw forbidden();
      return pipelineReply(services, project, await createForMergeRequest(services, { project, caller }, built));
    },
  }),
];

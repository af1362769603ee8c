/** Blocks between merge requests (docs/reference/merge_requests.md#blocks). */
import { type Static, Type } from 'typebox';
import {
  type MaybeCaller,
  mayUpdateMergeRequest,
  mergeRequestKind,
  mergeRequestReader,
  mergeRequestVisible,
  type Project,
} from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import {
  ApiError,
  del,
  found,
  get,
  Id,
  nothing,
  one,
  pageOf,
  post,
  resource,
  type Services,
} from '../../../../http/index.ts';
import { paginate, paging } from '../../../../lists/index.ts';
import { MergeRequestInList, presentMergeRequests } from '../present.ts';
import { addBlock, blockTexts, removeBlock } from './actions.ts';

/** A merge request hidden from the caller is shown by its id only: it still blocks. */
const Shown = Type.Union([MergeRequestInList, Type.Object({ id: Id })]);
const Block = resource('MergeRequestBlock', {
  id: Id,
  blocking_merge_request: Shown,
  blocked_merge_request: Shown,
  project_id: Id,
});

interface BlockRow {
  id: number;
  blocking_id: number;
  blocked_id: number;
  project_id: number;
}

const blocks = (db: Database) =>
  db
    .selectFrom('merge_request_blocks')
    .innerJoin('merge_requests', 'merge_requests.id', 'merge_request_blocks.blocked_id')
    .select(['merge_request_blocks.id', 'blocking_id', 'blocked_id', 'merge_requests.project_id']);

/** The merge requests among the given ones that the caller may read. */
async function readable(db: Database, caller: MaybeCaller, ids: readonly number[]): Promise<number[]> {
  const rows = await db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .select('merge_requests.id')
    .where('merge_requests.id', 'in', [...ids])
    .where(mergeRequestKind.isVisible(caller))
    .execute();
  return rows.map(({ id }) => id);
}

async function present(
  services: Services,
  caller: MaybeCaller,
  project: Project,
  rows: readonly BlockRow[],
): Promise<Static<typeof Block>[]> {
  if (rows.length === 0) return [];
  const ids = [...new Set(rows.flatMap(({ blocking_id, blocked_id }) => [blocking_id, blocked_id]))];
  const seen = await readable(services.db, caller, ids);
  const replies = await presentMergeRequests(services, caller, seen, { relative_to: project.id });
  const byId = new Map(replies.map((reply) => [reply.id, reply]));
  return rows.map(({ id, blocking_id, blocked_id, project_id }) => ({
    id,
    blocking_merge_request: byId.get(blocking_id) ?? { id: blocking_id },
    blocked_merge_request: byId.get(blocked_id) ?? { id: blocked_id },
    project_id,
  }));
}

const texts = {
  role: 'Lacking permissions to update the merge request',
  unknown: 'Blocking merge request not found',
};

/** @throws ApiError 403 for callers who may not update the merge request */
function refuseReader({ access_level }: Project, { is_own }: { is_own: boolean }): void {
  if (!mayUpdateMergeRequest({ access_level, is_own })) throw new ApiError(403, { message: texts.role });
}

const path = '/projects/:id/merge_requests/:merge_request_iid';
const which = { block_id: Id };
const plan = 'premium';

export const mergeRequestBlockRoutes = [
  get(`${path}/blocks`, {
    operation: 'listMergeRequestBlocks',
    summary: 'List the merge requests that a merge request waits for, oldest block first',
    access: mergeRequestVisible,
    plan,
    input: paging,
    returns: pageOf(Block),
    handle: async ({ caller, project, merge_request, input, ...services }) => {
      const rows = blocks(services.db).where('blocked_id', '=', merge_request.id).orderBy('merge_request_blocks.id');
      const page = await paginate(services.db, rows, input);
      return { ...page, items: await present(services, caller, project, page.items) };
    },
  }),
  get(`${path}/blockees`, {
    operation: 'listMergeRequestBlockees',
    summary: 'List the merge requests that wait for a merge request, oldest block first',
    access: mergeRequestVisible,
    plan,
    input: paging,
    returns: pageOf(Block),
    handle: async ({ caller, project, merge_request, input, ...services }) => {
      const rows = blocks(services.db).where('blocking_id', '=', merge_request.id).orderBy('merge_request_blocks.id');
      const page = await paginate(services.db, rows, input);
      return { ...page, items: await present(services, caller, project, page.items) };
    },
  }),
  get(`${path}/blocks/:block_id`, {
    operation: 'getMergeRequestBlock',
    summary: 'Show a block',
    access: mergeRequestVisible,
    plan,
    input: which,
    returns: one(Block),
    handle: async ({ caller, project, merge_request, input, ...services }) => {
      const row = await blocks(services.db)
        .where('blocked_id', '=', merge_request.id)
        .where('merge_request_blocks.id', '=', input.block_id)
        .executeTakeFirst();
      return (await present(services, caller, project, [found(undefined, row)]))[0]!;
    },
  }),
  post(`${path}/blocks`, {
    operation: 'createMergeRequestBlock',
    summary: 'Have a merge request wait for another one, also of another project',
    access: mergeRequestReader,
    plan,
    input: { blocking_merge_request_id: Id },
    returns: one(Block),
    refusals: {
      400: [blockTexts.itself, blockTexts.ring, blockTexts.many],
      403: texts.role,
      404: texts.unknown,
      409: blockTexts.twice,
    },
    handle: async ({ caller, project, merge_request, input, ...services }) => {
      refuseReader(project, merge_request);
      const [blocking_id] = await readable(services.db, caller, [input.blocking_merge_request_id]);
      if (blocking_id === undefined) throw new ApiError(404, { message: texts.unknown });
      const pair = { blocking_id, blocked_id: merge_request.id };
      const id = await services.db.transaction().execute((tx) => addBlock(tx, pair));
      return (await present(services, caller, project, [{ id, ...pair, project_id: project.id }]))[0]!;
    },
  }),
  del(`${path}/blocks/:block_id`, {
    operation: 'deleteMergeRequestBlock',
    summary: 'Have a merge request wait no longer for another one',
    access: mergeRequestReader,
    plan,
    input: which,
    returns: nothing,
    refusals: { 403: texts.role },
    handle: async ({ db, project, merge_request, input }) => {
      refuseReader(project, merge_request);
      await db.transaction().execute((tx) => removeBlock(tx, merge_request.id, input.block_id));
    },
  }),
];

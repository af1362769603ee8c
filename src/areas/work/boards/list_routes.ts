/** The lists of issue boards. */
import { type TSchema, Type } from 'typebox';
import {
  allOptional,
  capitalized,
  checkUnmodified,
  del,
  deleteFound,
  exactlyOneOf,
  get,
  Id,
  nothing,
  one,
  pageOf,
  post,
  put,
  since,
} from '../../../http/index.ts';
import { paging, startOf } from '../../../lists/index.ts';
import { type BoardPlace, boardsRole } from './access.ts';
import { addList, changeList } from './list_actions.ts';
import { BoardList, presentLists } from './present.ts';
import { fullBoard, listIn } from './queries.ts';

const Premium = <S extends TSchema>(schema: S) => since('premium', schema);
const Limit = () => Premium(Type.Integer({ minimum: 0, maximum: 1_000_000, description: '0: no limit' }));
const limits = () => allOptional({ max_issue_count: Limit(), max_issue_weight: Limit() });

const targets = allOptional({
  label_id: Type.Integer(),
  milestone_id: Premium(Type.Integer()),
  iteration_id: Premium(Type.Integer()),
  assignee_id: Premium(Type.Integer()),
});

function routesOf(kind: BoardPlace['kind']) {
  const base = `/${kind}s/:id/boards/:board_id/lists`;
  const single = `${base}/:list_id`;
  const Noun = capitalized(kind);
  const [reader, planner] = [boardsRole(kind, 'guest'), boardsRole(kind, 'planner')];
  return [
    get(base, {
      operation: `list${Noun}BoardLists`,
      summary: 'List the lists of an issue board, in their order',
      description: 'Without the list of open and that of closed issues, which every board has.',
      access: reader,
      input: { board_id: Id, ...paging },
      returns: pageOf(BoardList),
      handle: async ({ db, url, caller, place, input }) => {
        const { lists } = await fullBoard(db, place, caller.id, input.board_id);
        const { page, per_page, offset } = startOf(input);
        const items = await presentLists({ db, url }, lists.slice(offset, offset + per_page));
        return { items, page, per_page, has_more: lists.length > offset + per_page, total: lists.length };
      },
    }),
    get(single, {
      operation: `get${Noun}BoardList`,
      summary: 'Get a list of an issue board',
      access: reader,
      input: { board_id: Id, list_id: Id },
      returns: one(BoardList),
      handle: async ({ db, url, caller, place, input }) => {
        const full = await fullBoard(db, place, caller.id, input.board_id);
        return (await presentLists({ db, url }, [listIn(full, input.list_id)]))[0]!;
      },
    }),
    post(base, {
      operation: `create${Noun}BoardList`,
      summary: 'Add a list to an issue board, behind the others',
      access: planner,
      input: { board_id: Id, ...targets, ...limits() },
      rules: [exactlyOneOf('label_id', 'milestone_id', 'iteration_id', 'assignee_id')],
      returns: one(BoardList),
      refusals: {
        400: [
          'error: Label not found!',
          'error: User not found!',
          'error: Milestone not found!',
          'error: Iteration not found!',
          '<field>: has already been taken',
          'Maximum number of lists (<number>) exceeded',
        ],
      },
      handle: async ({ db, url, caller, place, input: { board_id, ...list } }) => {
        const id = await db.transaction().execute((tx) => addList(tx, place, board_id, list));
        const full = await fullBoard(db, place, caller.id, board_id);
        return (await presentLists({ db, url }, [listIn(full, id)]))[0]!;
      },
    }),
    put(single, {
      operation: `update${Noun}BoardList`,
      summary: 'Move a list on its issue board',
      access: planner,
      input: {
        board_id: Id,
        list_id: Id,
        position: Type.Integer({ description: 'From 0' }),
        ...limits(),
        ...allOptional({ collapsed: Type.Boolean({ description: 'For the caller alone' }) }),
      },
      returns: one(BoardList),
      refusals: { 400: 'error: List could not be moved!' },
      handle: async ({ db, url, caller, place, input: { board_id, list_id, ...changes } }) => {
        const which = { board_id, list_id, user_id: caller.id };
        await db.transaction().execute((tx) => changeList(tx, place, which, changes));
        const full = await fullBoard(db, place, caller.id, board_id);
        return (await presentLists({ db, url }, [listIn(full, list_id)]))[0]!;
      },
    }),
    del(single, {
      operation: `delete${Noun}BoardList`,
      summary: 'Delete a list of an issue board',
      access: planner,
      input: { board_id: Id, list_id: Id },
      conditional: true,
      returns: nothing,
      handle: async ({ db, caller, place, input, unmodified_since }) => {
        const { id, updated_at } = listIn(await fullBoard(db, place, caller.id, input.board_id), input.list_id);
        checkUnmodified(updated_at, unmodified_since);
        await deleteFound(db, 'board_lists', id);
      },
    }),
  ];
}

export const boardListRoutes = [...routesOf('project'), ...routesOf('group')];

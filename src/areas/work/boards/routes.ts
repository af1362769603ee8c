/** Issue boards. Projects and groups have the same routes. */
import { Type } from 'typebox';
import {
  allOptional,
  ClearableList,
  capitalized,
  checked,
  checkUnmodified,
  del,
  deleteFound,
  get,
  Id,
  NotBlank,
  nothing,
  nullable,
  one,
  pageOf,
  post,
  put,
  required,
  type Services,
  since,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { tooLong } from '../../../texts/index.ts';
import { type BoardPlace, boardsRole, type GrantedPlace } from './access.ts';
import { addBoard, changeBoard } from './actions.ts';
import { Board, presentBoards } from './present.ts';
import { boardOf, boardRows } from './queries.ts';

const Name = () => checked(NotBlank({ description: 'At most 255 characters' }), (name) => tooLong(name, 255));

const changes = {
  name: Name(),
  hide_backlog_list: Type.Boolean(),
  hide_closed_list: Type.Boolean(),
  assignee_id: since('premium', nullable(Type.Integer({ description: '0: all, -1: issues without an assignee' }))),
  milestone_id: since(
    'premium',
    nullable(Type.Integer({ description: '0: all, -1: issues without a milestone, -2: upcoming, -3: started' })),
  ),
  iteration_id: since('premium', nullable(Type.Integer({ minimum: 0, description: '0: all' }))),
  labels: since('premium', ClearableList(Type.String({ description: 'Titles' }))),
  weight: since('premium', nullable(Type.Integer({ minimum: -2, maximum: 9, description: '-1: any, -2: none' }))),
};

async function presentOne(services: Services, granted: GrantedPlace, id: number) {
  const [board] = await presentBoards(services, granted, [await boardOf(services.db, granted.place, id)]);
  return board!;
}

function routesOf(kind: BoardPlace['kind']) {
  const base = `/${kind}s/:id/boards`;
  const single = `${base}/:board_id`;
  const Noun = capitalized(kind);
  const [reader, planner] = [boardsRole(kind, 'guest'), boardsRole(kind, 'planner')];
  return [
    get(base, {
      operation: `list${Noun}Boards`,
      summary: `List the issue boards of a ${kind}, by name`,
      access: reader,
      input: paging,
      returns: pageOf(Board),
      handle: async ({ caller, place, input, ...services }) => {
        const page = await paginate(services.db, boardRows(services.db, place), input);
        return { ...page, items: await presentBoards(services, { caller, place }, page.items) };
      },
    }),
    get(single, {
      operation: `get${Noun}Board`,
      summary: 'Get an issue board',
      access: reader,
      input: { board_id: Id },
      returns: one(Board),
      handle: ({ caller, place, input, ...services }) => presentOne(services, { caller, place }, input.board_id),
    }),
    post(base, {
      operation: `create${Noun}Board`,
      summary: `Create an issue board in a ${kind}`,
      description: `A second board of a ${kind} needs the Premium plan.`,
      access: planner,
      input: { name: required(Name(), 'is missing') },
      returns: one(Board),
      refusals: {
        400: 'base: Maximum number of boards (<number>) exceeded',
        403: '403 Forbidden - Another board needs the Premium plan',
      },
      handle: async ({ caller, place, plan, input, ...services }) => {
        const id = await services.db.transaction().execute((tx) => addBoard(tx, place, plan, input.name));
        return presentOne(services, { caller, place }, id);
      },
    }),
    put(single, {
      operation: `update${Noun}Board`,
      summary: 'Update an issue board, also which issues are on it',
      access: planner,
      input: { board_id: Id, ...allOptional(changes) },
      returns: one(Board),
      refusals: { 400: '<field>: does not exist' },
      handle: async ({ caller, place, plan: _, input: { board_id, ...given }, ...services }) => {
        await services.db.transaction().execute((tx) => changeBoard(tx, place, board_id, given));
        return presentOne(services, { caller, place }, board_id);
      },
    }),
    del(single, {
      operation: `delete${Noun}Board`,
      summary: 'Delete an issue board',
      access: planner,
      input: { board_id: Id },
      conditional: true,
      returns: nothing,
      handle: async ({ db, place, input, unmodified_since }) => {
        const { id, updated_at } = await boardOf(db, place, input.board_id);
        checkUnmodified(updated_at, unmodified_since);
        await deleteFound(db, 'boards', id);
      },
    }),
  ];
}

export const boardRoutes = [...routesOf('project'), ...routesOf('group')];

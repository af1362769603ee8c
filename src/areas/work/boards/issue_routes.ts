/** The issues on a board: listing the issues of a list, and moving them. */
import { Type } from 'typebox';
import { atLeastOneOf, capitalized, get, Id, one, optional, pageOf, put } from '../../../http/index.ts';
import { paging } from '../../../lists/index.ts';
import { idOr } from '../issuables/filters.ts';
import { IdOr } from '../issuables/list_parameters.ts';
import { anyScope, boardFilters, listRules, nonArchived } from '../issues/lists/parameters.ts';
import { listIssues } from '../issues/lists/queries.ts';
import { Issue, presentSingleIssue } from '../issues/present.ts';
import { type BoardPlace, boardsRole } from './access.ts';
import { type Column, listingOf } from './filters.ts';
import { moveCard } from './move_actions.ts';
import { type FullBoard, fullBoard, listIn } from './queries.ts';

/** @throws ApiError 400 for an invalid id, 404 for a list of another board */
function columnNamed(name: string, text: string, full: FullBoard): Column {
  const asked = idOr(name, text, ['open', 'closed']);
  return typeof asked === 'number' ? listIn(full, asked) : asked;
}

const orders = {
  opened: { order_by: 'relative_position', sort: 'asc' },
  closed: { order_by: 'created_at', sort: 'desc' },
} as const;

const Neighbor = (side: string) =>
  optional(Type.Integer({ description: `ID (not number) of the issue ${side}; 0: none` }));

/** The id, if it is a valid id of an issue. */
const meant = (id: number | undefined) => (id !== undefined && id > 0 ? id : undefined);

function routesOf(kind: BoardPlace['kind']) {
  const base = `/${kind}s/:id/boards/:board_id/issues`;
  const Noun = capitalized(kind);
  const reader = boardsRole(kind, 'guest');
  return [
    get(base, {
      operation: `list${Noun}BoardIssues`,
      summary: 'List the issues in a list of an issue board, in their order',
      description: 'Closed issues are listed newest first.',
      access: reader,
      input: {
        board_id: Id,
        list_id: IdOr('`open` or `closed`'),
        ...paging,
        ...anyScope,
        // The issues of a single project are listed whether it is archived or not.
        ...(kind === 'group' ? nonArchived : ({} as typeof nonArchived)),
        ...boardFilters,
      },
      rules: listRules,
      returns: pageOf(Issue),
      handle: async ({ db, url, caller, place, plan, input: { board_id, list_id, ...input } }) => {
        const full = await fullBoard(db, place, caller.id, board_id);
        const listing = listingOf({ caller, plan }, place, full, columnNamed('list_id', list_id, full));
        const { state = 'opened' } = listing.filters;
        const filters = { ...listing.filters, ...input, ...orders[state === 'closed' ? 'closed' : 'opened'] };
        return listIssues({ db, url }, { ...listing, filters }, input);
      },
    }),
    put(`${base}/:issue_id/move`, {
      operation: `move${Noun}BoardIssue`,
      summary: 'Move an issue on an issue board',
      description:
        'An edit of the issue: a list adds what it stands for, and takes away what the list that the issue comes from stands for.',
      access: reader,
      input: {
        board_id: Id,
        issue_id: Id,
        from_list_id: optional(IdOr('`open` or `closed`')),
        to_list_id: optional(IdOr('`open` or `closed`')),
        move_after_id: Neighbor('before it'),
        move_before_id: Neighbor('after it'),
      },
      rules: [atLeastOneOf('from_list_id', 'to_list_id', 'move_before_id', 'move_after_id')],
      returns: one(Issue),
      refusals: {
        400: ['move_before_id is not in the list', 'move_after_id is not in the list', '<parameter>: <reason>'],
        403: '403 Forbidden - <reason>',
        404: ['404 Milestone Not Found', '404 Iteration Not Found'],
        422: 'Unprocessable Entity',
      },
      handle: async ({ db, storages, url, caller, place, plan, input }) => {
        const full = await fullBoard(db, place, caller.id, input.board_id);
        const column = (name: 'from_list_id' | 'to_list_id') => {
          const text = input[name];
          return text === undefined ? undefined : columnNamed(name, text, full);
        };
        const move = {
          from: column('from_list_id'),
          to: column('to_list_id'),
          after: meant(input.move_after_id),
          before: meant(input.move_before_id),
        };
        const moving = { acting: { caller, plan, storages, url }, place, full };
        const issue = await db.transaction().execute((tx) => moveCard(tx, moving, input.issue_id, move));
        return presentSingleIssue({ db, url }, caller, issue);
      },
    }),
  ];
}

export const boardIssueRoutes = [...routesOf('project'), ...routesOf('group')];

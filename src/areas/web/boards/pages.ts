/** The issue boards of a project or group, and one board (docs/reference/work_pages.md#boards). */
import type { Static } from 'typebox';
import { pagePath } from '../../../foundation/addresses.ts';
import { capitalized, type Page as ListPage } from '../../../http/index.ts';
import { form, html, type Page, type PageCall, page, pager, pagingOf, rows } from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { Board, BoardList } from '../../work/boards/index.ts';
import { Issue } from '../../work/issues/index.ts';
import { boardView, type Card, type Column, type ShownBoard } from './views.ts';

type Kind = 'project' | 'group';

const addresses = {
  project: { one: pagePath('/:project/-/boards/:board_id') },
  group: { one: pagePath('/groups/:group/-/boards/:board_id') },
};
const paths = { project: '/:id/-/boards', group: '/groups/:id/-/boards' };

/** The boards of a project or group, with a form for a new one. */
const boardsPage = (kind: Kind) =>
  page(paths[kind], {
    signed_in: true,
    load: async ({ list, query, params, may }) => {
      const Noun = capitalized(kind);
      const boards = await list(Board, `list${Noun}Boards`, pagingOf({ query }));
      return { id: params.id!, boards, mayCreate: await may(`create${Noun}Board`) };
    },
    forms: {
      create: {
        runs: `create${capitalized(kind)}Board`,
        next: ({ id }: { id: number }, { params }) => addresses[kind].one(params.id!, id),
      },
    },
    view: ({ id, boards, mayCreate }, seen) => ({
      title: ['Issue boards', id],
      place: { id, kind, tab: 'boards' },
      main: html`${rows(
        boards.items.map(
          (board) =>
            html`<a class="title" href="${addresses[kind].one(id, board.id)}">${board.name}</a>
<div class="soft">${counted(board.lists.length, 'list')}</div>`,
        ),
        'There are no boards yet.',
      )}
${pager(boards, seen)}
${mayCreate && html`<h2>New board</h2>${form(seen, 'create', { fields: [{ name: 'name', label: 'Name', is_required: true, maximum: 255 }], button: 'Create board' })}`}`,
    }),
  });

/** The maximum number of lists shown between the lists of open and closed issues, and of issues shown in each list. */
const listsOnPage = 6;
const cardsOnPage = 20;

const titleOf = ({ label, assignee, milestone, iteration }: Static<typeof BoardList>): string =>
  label?.name ??
  assignee?.name ??
  milestone?.title ??
  iteration?.title ??
  `${iteration?.start_date} – ${iteration?.due_date}`;

/** A column with its first cards. */
async function columnOf(
  { list }: PageCall,
  operation: 'listProjectBoardIssues' | 'listGroupBoardIssues',
  column: Pick<Column, 'list_id' | 'title' | 'color' | 'limit'>,
): Promise<Column> {
  const { list_id } = column;
  const cards: ListPage<Card> = await list(Issue, operation, { list_id, per_page: cardsOnPage });
  return { ...column, cards };
}

async function loadBoard(kind: Kind, call: PageCall): Promise<ShownBoard> {
  const Noun = capitalized(kind);
  const { one, list, query, params, may } = call;
  const [board, shown, mayMove] = await Promise.all([
    one(Board, `get${Noun}Board`),
    list(BoardList, `list${Noun}BoardLists`, { ...pagingOf({ query }), per_page: listsOnPage }),
    may(`create${Noun}Board`),
  ]);
  const columns = [
    ...(shown.page > 1 || board.hide_backlog_list ? [] : [{ list_id: 'open', title: 'Open' }]),
    ...shown.items.map((each) => ({
      list_id: String(each.id),
      title: titleOf(each),
      color: each.label?.color,
      limit: each.max_issue_count,
    })),
    ...(shown.has_more || board.hide_closed_list ? [] : [{ list_id: 'closed', title: 'Closed' }]),
  ];
  const targets = [
    { value: 'open', label: 'Open' },
    ...board.lists.map((each) => ({ value: String(each.id), label: titleOf(each) })),
    { value: 'closed', label: 'Closed' },
  ];
  const filled = await Promise.all(columns.map((column) => columnOf(call, `list${Noun}BoardIssues`, column)));
  return { id: params.id!, kind, name: board.name, columns: filled, targets: mayMove ? targets : [], shown };
}

/** A board: its lists side by side, with a form on each issue that moves it to another list. */
const boardPage = (kind: Kind): Page<ShownBoard> =>
  page(`${paths[kind]}/:board_id`, {
    signed_in: true,
    load: (call) => loadBoard(kind, call),
    forms: { move: { runs: `move${capitalized(kind)}BoardIssue` } },
    view: boardView,
  });

export const boardPages = [boardsPage('project'), boardPage('project'), boardsPage('group'), boardPage('group')];

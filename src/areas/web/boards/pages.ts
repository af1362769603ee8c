/** The issue boards of a project or group, and one board (docs/reference/work_pages.md#boards). */
import { capitalized, type Page as ListPage } from '../../../http/index.ts';
import {
  type AnyPage,
  form,
  html,
  type Page,
  type PageCall,
  type PageForm,
  page,
  pager,
  pagingOf,
  rows,
} from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { Board, BoardList } from '../../work/boards/index.ts';
import { Issue } from '../../work/issues/index.ts';
import { newCard } from './card_rules.ts';
import { boardAddress, boardPaths, type Kind, titleOfList } from './definition.ts';
import { boardEditPages } from './edit_pages.ts';
import { boardView, type Card, type Column, type ShownBoard } from './views.ts';

/** The boards of a project or group, with a form for a new one. */
const boardsPage = (kind: Kind) =>
  page(boardPaths[kind], {
    signed_in: true,
    load: async ({ list, query, params, may }) => {
      const Noun = capitalized(kind);
      const boards = await list(Board, `list${Noun}Boards`, pagingOf({ query }));
      return { id: params.id!, boards, mayCreate: await may(`create${Noun}Board`) };
    },
    forms: {
      create: {
        runs: `create${capitalized(kind)}Board`,
        next: ({ id }: { id: number }, { params }) => boardAddress[kind](params.id!, id),
      },
    },
    view: ({ id, boards, mayCreate }, seen) => ({
      title: ['Issue boards', id],
      place: { id, kind, tab: 'boards' },
      main: html`${rows(
        boards.items.map(
          (board) =>
            html`<a class="title" href="${boardAddress[kind](id, board.id)}">${board.name}</a>
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
      title: titleOfList(each),
      color: each.label?.color,
      limit: each.max_issue_count,
    })),
    ...(shown.has_more || board.hide_closed_list ? [] : [{ list_id: 'closed', title: 'Closed' }]),
  ];
  const targets = [
    { value: 'open', label: 'Open' },
    ...board.lists.map((each) => ({ value: String(each.id), label: titleOfList(each) })),
    { value: 'closed', label: 'Closed' },
  ];
  const filled = await Promise.all(columns.map((column) => columnOf(call, `list${Noun}BoardIssues`, column)));
  return { id: params.id!, kind, board, columns: filled, targets: mayMove ? targets : [], shown };
}

/** A new issue in a list. What it gets from its list and from the scope of the board is what it would get there by hand. */
const addForm: PageForm = {
  runs: 'createProjectIssue',
  takes: async ({ one, caller }, { title, list_id }) => {
    const board = await one(Board, 'getProjectBoard');
    return newCard(board, String(list_id), typeof title === 'string' ? title : '', caller?.id);
  },
};

/** A board: its lists side by side, with a form on each issue that moves it to another list. */
const boardPage = (kind: Kind): Page<ShownBoard> =>
  page(`${boardPaths[kind]}/:board_id`, {
    signed_in: true,
    load: (call) => loadBoard(kind, call),
    forms: {
      move: { runs: `move${capitalized(kind)}BoardIssue` },
      ...(kind === 'project' && { add: addForm }),
    },
    view: boardView,
  });

export const boardPages: readonly AnyPage[] = [
  ...boardEditPages,
  ...(['project', 'group'] as const).flatMap((kind) => [boardsPage(kind), boardPage(kind)]),
];

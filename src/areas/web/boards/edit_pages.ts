/** The settings of a board and its lists (docs/reference/work_pages.md#boards). */
import type { Static } from 'typebox';
import { pageBelow } from '../../../access/index.ts';
import { capitalized, type Plan, reaches, type Values } from '../../../http/index.ts';
import {
  type Field,
  form,
  type Html,
  hidden,
  html,
  label,
  type Option,
  type PageCall,
  page,
  rows,
  type Seen,
} from '../../../pages/index.ts';
import { Board } from '../../work/boards/index.ts';
import { formOf } from '../declared/definition.ts';
import { choicesOf, fieldsFor } from '../declared/form_present.ts';
import { boardAddress, boardPaths, type Kind, type ShownList, titleOfList } from './definition.ts';

type ShownBoard = Static<typeof Board>;

const iterationLabel = ({ title, start_date, due_date }: Values): string =>
  title === null ? `${start_date} – ${due_date}` : String(title);

/** What a list, or the scope of a board, can name. */
const choices = (kind: Kind) => {
  const Noun = capitalized(kind);
  return {
    label_id: choicesOf(`list${Noun}Labels`, { label: 'name' }),
    assignee_id: choicesOf(kind === 'project' ? 'listProjectUsers' : 'listAllGroupMembers', { label: 'name' }),
    milestone_id: choicesOf(`list${Noun}Milestones`, {
      label: 'title',
      parameters: { state: 'active', include_ancestors: true },
    }),
    iteration_id: async ({ described, perhaps }: PageCall): Promise<readonly Option[]> => {
      const found = await perhaps(described(`list${Noun}Iterations`, { state: 'opened', per_page: 100 }));
      const { items = [] } = (found?.reply ?? {}) as { items?: Values[] };
      return items.map((item) => ({ value: Number(item.id), label: iterationLabel(item) }));
    },
  };
};

const listLabels = { label_id: 'Label', assignee_id: 'Person', milestone_id: 'Milestone', iteration_id: 'Iteration' };
type Target = keyof typeof listLabels;

const weights: readonly Option[] = [
  { value: -1, label: 'Any' },
  { value: -2, label: 'None' },
  ...Array.from({ length: 10 }, (_, weight) => ({ value: weight, label: String(weight) })),
];
const milestoneWildcards: Readonly<Record<string, number>> = { none: -1, upcoming: -2, started: -3 };

const idIn = (value: unknown): number => (value as { id: number } | null)?.id ?? 0;

/** The form for a board: its name, and which issues are on it. */
function changing(kind: Kind) {
  const { assignee_id, milestone_id, iteration_id } = choices(kind);
  const behind =
    (first: readonly Option[], of: (call: PageCall) => Promise<readonly Option[]>) => async (call: PageCall) => [
      ...first,
      ...(await of(call)),
    ];
  return formOf(
    `update${capitalized(kind)}Board` as const,
    {
      name: { label: 'Name' },
      hide_backlog_list: { label: 'Hide the list of open issues' },
      hide_closed_list: { label: 'Hide the list of closed issues' },
      labels: {
        label: 'Only issues with the labels',
        from: ({ labels }) => (labels as { name: string }[]).map(({ name }) => name),
      },
      assignee_id: {
        label: 'Only issues assigned to',
        help: undefined,
        choices: behind(
          [
            { value: 0, label: 'Anyone or nobody' },
            { value: -1, label: 'Nobody' },
          ],
          assignee_id,
        ),
        from: ({ assignee, assignee_wildcard }) => (assignee_wildcard === 'none' ? -1 : idIn(assignee)),
      },
      milestone_id: {
        label: 'Only issues of the milestone',
        help: undefined,
        choices: behind(
          [
            { value: 0, label: 'Any or none' },
            { value: -1, label: 'None' },
            { value: -2, label: 'One that is coming' },
            { value: -3, label: 'One that has begun' },
          ],
          milestone_id,
        ),
        from: ({ milestone, milestone_wildcard }) => milestoneWildcards[String(milestone_wildcard)] ?? idIn(milestone),
      },
      iteration_id: {
        label: 'Only issues of the iteration',
        help: undefined,
        choices: behind([{ value: 0, label: 'Any or none' }], iteration_id),
        from: ({ iteration }) => idIn(iteration),
      },
      weight: {
        label: 'Only issues with the weight',
        help: undefined,
        choices: async () => weights,
        from: ({ weight }) => weight ?? -1,
      },
    },
    { button: 'Save board' },
  );
}

/** What the form for a board edits. */
const settingsIn = ({ lists: _, ...settings }: ShownBoard): readonly unknown[] => [settings];

/** The targets of new lists; those without a choice are left out. */
async function listFields(call: PageCall, kind: Kind, plan: Plan | undefined): Promise<readonly Field[]> {
  const names = (Object.keys(listLabels) as Target[]).filter(
    (name) => name === 'label_id' || reaches(plan ?? 'free', 'premium'),
  );
  const offered = await Promise.all(names.map((name) => choices(kind)[name](call)));
  return names
    .map(
      (name, index): Field => ({
        name,
        label: listLabels[name],
        kind: 'select',
        options: offered[index]!,
        refused_as: ['error', name === 'assignee_id' ? 'user_id' : name],
      }),
    )
    .filter(({ options = [] }) => options.length > 0);
}

function listRow(seen: Seen, list: ShownList, last: number): Html {
  const { id, position, max_issue_count, max_issue_weight } = list;
  const title = titleOfList(list);
  const own = hidden('list_id', id);
  const moveTo = (to: number, word: string) =>
    to >= 0 &&
    to <= last &&
    form(seen, 'move_list', {
      fields: [own, hidden('position', to)],
      button: html`${word}<span class="visually-hidden">: ${title}</span>`,
      look: 'plain',
      key: `${id}-${to}`,
    });
  const limits =
    reaches(seen.caller?.plan ?? 'free', 'premium') &&
    html`<details><summary>Limits<span class="visually-hidden"> of ${title}</span></summary>${form(seen, 'move_list', {
      fields: [
        own,
        hidden('position', position),
        {
          name: 'max_issue_count',
          label: 'Issues at most',
          kind: 'number',
          value: max_issue_count,
          help: '0 for no limit.',
        },
        { name: 'max_issue_weight', label: 'Weight at most', kind: 'number', value: max_issue_weight },
      ],
      button: 'Save limits',
      look: 'plain',
      key: `${id}-limits`,
    })}</details>`;
  return html`${list.label ? label(title, list.label.color) : html`<span class="title">${title}</span>`}
<div class="actions">${moveTo(position - 1, 'To the left')}${moveTo(position + 1, 'To the right')}${form(
    seen,
    'remove_list',
    {
      fields: [own],
      button: html`Remove<span class="visually-hidden"> ${title}</span>`,
      look: 'danger',
      key: id,
    },
  )}</div>${limits}`;
}

const editPage = (kind: Kind) => {
  const Noun = capitalized(kind);
  return page(`${boardPaths[kind]}/:board_id/edit`, {
    signed_in: true,
    load: async (call) => {
      const board = await call.one(Board, `get${Noun}Board`);
      const [fields, targets] = await Promise.all([
        fieldsFor(call, changing(kind), board as unknown as Values),
        listFields(call, kind, call.caller?.plan),
      ]);
      return { id: call.params.id!, board, fields, targets };
    },
    forms: {
      change: {
        runs: `update${Noun}Board`,
        edits: async ({ one }) => settingsIn(await one(Board, `get${Noun}Board`)),
        next: (_: never, { params }: PageCall) => boardAddress[kind](params.id!, params.board_id!),
      },
      remove: {
        runs: `delete${Noun}Board`,
        next: (_: never, { params }: PageCall) => pageBelow[kind](params.id!, 'boards'),
      },
      add_list: { runs: `create${Noun}BoardList` },
      move_list: { runs: `update${Noun}BoardList` },
      remove_list: { runs: `delete${Noun}BoardList` },
    },
    view: ({ id, board, fields, targets }, seen) => ({
      title: [`Edit ${board.name}`, 'Issue boards', id],
      place: { id, kind, tab: 'boards' },
      main: seen.may('change')
        ? html`<h2>Lists</h2>
${rows(
  board.lists.map((list) => listRow(seen, list, board.lists.length - 1)),
  'There are no lists but those of open and closed issues.',
)}
${targets.map((field) => html`<details><summary>Add a list: ${field.label.toLowerCase()}</summary>${form(seen, 'add_list', { fields: [field], button: 'Add list', look: 'plain', key: field.name })}</details>`)}
<h2>Settings</h2>
${form(seen, 'change', { fields, edited: settingsIn(board), button: 'Save board' })}
<h2>Delete</h2>
<p class="soft">The board goes with its lists. Issues and labels stay as they are.</p>
${form(seen, 'remove', { button: 'Delete board', look: 'danger' })}
<p><a href="${boardAddress[kind](id, board.id)}">Back to the board</a></p>`
        : html`<p>You may not change this board.</p>`,
    }),
  });
};

export const boardEditPages = [editPage('project'), editPage('group')];

/** Views of boards. */
import type { Static } from 'typebox';
import type { Page } from '../../../http/index.ts';
import {
  type Content,
  chip,
  day,
  type Field,
  form,
  type Html,
  hidden,
  html,
  icon,
  label,
  menu,
  pager,
  people,
  refusalIn,
  type Seen,
  type View,
} from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import type { Board } from '../../work/boards/index.ts';
import type { Issue } from '../../work/issues/index.ts';
import { pathOf } from '../issuables/present.ts';
import { labelsView } from '../issuables/views.ts';
import { takesCards } from './card_rules.ts';
import { boardAddress, type Kind } from './definition.ts';

export type Card = Static<typeof Issue>;

/** A list with its first issues. */
export interface Column {
  /** Its id, `open` or `closed`. */
  list_id: string;
  title: string;
  color?: string | undefined;
  /** The maximum number of issues intended for the list; 0 for no limit. */
  limit?: number | undefined;
  cards: Page<Card>;
}

/** A board as its page shows it. */
export interface ShownBoard {
  id: string;
  kind: Kind;
  board: Static<typeof Board>;
  columns: readonly Column[];
  /** The lists to which issues can be moved; empty if the caller may not move any. */
  targets: readonly { value: string; label: string }[];
  shown: Page<unknown>;
}

/** Moves an issue to another list, and up and down in its own; with JavaScript, it can be dragged, too. */
function moveMenu(seen: Seen, { list_id, cards }: Column, index: number, targets: ShownBoard['targets']): Content {
  const { id, references } = cards.items[index]!;
  const key = `${list_id}-${id}`;
  const own = [hidden('issue_id', id), hidden('from_list_id', list_id)];
  const button = (word: string, place: string, field: Field) =>
    form(seen, 'move', {
      fields: [...own, field],
      button: html`${word}<span class="visually-hidden">: ${references.full}</span>`,
      look: 'plain',
      key: `${key}-${place}`,
    });
  const [before, after] = list_id === 'closed' ? [] : [cards.items[index - 1], cards.items[index + 1]];
  const moving = form(seen, 'move', {
    fields: [...own, { name: 'to_list_id', label: 'Move to', kind: 'select', value: list_id, options: targets }],
    button: html`Move <span class="visually-hidden">${references.full}</span>`,
    look: 'plain',
    key,
  });
  return html`${refusalIn(seen, 'move', key) && html`<p class="refusal">It was not moved.</p>`}${menu(
    html`${icon('dots')}<span class="visually-hidden">Move ${references.full}</span>`,
    [
      moving,
      before && button('Up', 'up', hidden('move_before_id', before.id)),
      after && button('Down', 'down', hidden('move_after_id', after.id)),
    ],
  )}`;
}

function cardView(seen: Seen, column: Column, index: number, targets: ShownBoard['targets']): Html {
  const { title, web_url, references, weight, due_date, labels, confidential, assignees } = column.cards.items[index]!;
  return html`<li class="card"><a class="title" href="${pathOf(web_url)}">${title}</a> <span class="soft">${references.relative}${
    typeof weight === 'number' && html`, weight ${weight}`
  }${due_date && html`, due ${day(due_date)}`}</span>
<div>${labelsView(labels, pathOf(web_url))}${confidential && chip('Confidential', 'lock')}</div>
${assignees.length > 0 && html`<div class="soft">${people(assignees)}</div>`}
${targets.length > 0 && moveMenu(seen, column, index, targets)}</li>`;
}

/** A form for a new issue in a list. */
const addView = (seen: Seen, { list_id, title }: Column): Content =>
  seen.may('add') &&
  html`<details ?open="${refusalIn(seen, 'add', list_id) !== undefined}"><summary>Add<span class="visually-hidden"> an issue to ${title}</span></summary>${form(
    seen,
    'add',
    {
      fields: [
        { name: 'title', label: 'Title', is_required: true, help: 'With ~label and @me behind it.' },
        hidden('list_id', list_id),
      ],
      button: 'Add',
      look: 'plain',
      key: list_id,
    },
  )}</details>`;

function columnView(seen: Seen, column: Column, { board, targets }: ShownBoard): Html {
  const { list_id, title, color, limit, cards } = column;
  const { items, total, has_more } = cards;
  const count = total ?? `${items.length}${has_more ? '+' : ''}`;
  const most = limit ? ` of at most ${limit}` : '';
  return html`<section>
<h2>${color ? label(title, color) : title} <span class="soft">${count}${most}</span></h2>
${takesCards(board, list_id) && addView(seen, column)}
<ul data-list="${list_id}">${items.map((_, index) => cardView(seen, column, index, targets))}</ul>
${items.length === 0 && html`<p class="soft">There are no issues.</p>`}
${has_more && html`<p class="soft">Only the first ${counted(items.length, 'issue')} are shown.</p>`}
</section>`;
}

export function boardView(shown: ShownBoard, seen: Seen): View {
  const { id, kind, board, columns, targets } = shown;
  return {
    title: [board.name, 'Issue boards', id],
    place: { id, kind, tab: 'boards' },
    main: html`${targets.length > 0 && html`<p class="actions"><a class="button" href="${`${boardAddress[kind](id, board.id)}/edit`}">Edit board</a></p>`}
<div class="board" id="board">${columns.map((column) => columnView(seen, column, shown))}</div>
${pager(shown.shown, seen)}`,
  };
}

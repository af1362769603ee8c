/** Views of boards. */
import type { Static } from 'typebox';
import type { Page } from '../../../http/index.ts';
import {
  type Content,
  chip,
  form,
  type Html,
  hidden,
  html,
  label,
  pager,
  people,
  type Seen,
  type View,
} from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import type { Issue } from '../../work/issues/index.ts';
import { pathOf } from '../issuables/present.ts';
import { labelsView } from '../issuables/views.ts';

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
  kind: 'project' | 'group';
  name: string;
  columns: readonly Column[];
  /** The lists to which issues can be moved; empty if the caller may not move any. */
  targets: readonly { value: string; label: string }[];
  shown: Page<unknown>;
}

/** Moves an issue to another list. */
const moveForm = (seen: Seen, { list_id }: Column, { id, references }: Card, targets: ShownBoard['targets']): Content =>
  targets.length > 0 &&
  form(seen, 'move', {
    fields: [
      hidden('issue_id', id),
      hidden('from_list_id', list_id),
      {
        name: 'to_list_id',
        label: 'Move to',
        kind: 'select',
        value: list_id,
        options: targets,
      },
    ],
    button: html`Move <span class="visually-hidden">${references.full}</span>`,
    look: 'plain',
    key: `${list_id}-${id}`,
    action: seen.path,
  });

function cardView(seen: Seen, column: Column, card: Card, targets: ShownBoard['targets']): Html {
  return html`<li><a class="title" href="${pathOf(card.web_url)}">${card.title}</a> <span class="soft">${card.references.relative}</span>
<div>${labelsView(card.labels, pathOf(card.web_url))}${card.confidential && chip('Confidential', 'lock')}</div>
${card.assignees.length > 0 && html`<div class="soft">${people(card.assignees)}</div>`}
${moveForm(seen, column, card, targets)}</li>`;
}

function columnView(seen: Seen, column: Column, targets: ShownBoard['targets']): Html {
  const { title, color, limit, cards } = column;
  const { items, total, has_more } = cards;
  const count = total ?? `${items.length}${has_more ? '+' : ''}`;
  const most = limit ? ` of at most ${limit}` : '';
  return html`<section>
<h2>${color ? label(title, color) : title} <span class="soft">${count}${most}</span></h2>
${items.length > 0 ? html`<ul class="rows">${items.map((card) => cardView(seen, column, card, targets))}</ul>` : html`<p class="soft">There are no issues.</p>`}
${has_more && html`<p class="soft">Only the first ${counted(items.length, 'issue')} are shown.</p>`}
</section>`;
}

export function boardView({ id, kind, name, columns, targets, shown }: ShownBoard, seen: Seen): View {
  return {
    title: [name, 'Issue boards', id],
    place: { id, kind, tab: 'boards' },
    main: html`<div class="board">${columns.map((column) => columnView(seen, column, targets))}</div>
${pager(shown, seen)}`,
  };
}

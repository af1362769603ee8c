/** Links between issues, and between epics (docs/reference/work_pages.md#links). */
import {
  type Field,
  form,
  type Html,
  html,
  type PageCall,
  type PageForm,
  refusalIn,
  rows,
  type Seen,
  state,
} from '../../../pages/index.ts';
import { pathOf } from './present.ts';
import { namedIn } from './reference_rules.ts';

/** Where the references of a page lead. */
const placeOf = ({ services, params }: PageCall) => ({ parent: params.id!.replace(/\/[^/]*$/, ''), url: services.url });

/** The forms that link an issue or epic to another one, and end a link. */
export const linkForms = {
  Issue: {
    link: {
      runs: 'createIssueLink',
      takes: async (call, { target, link_type }) => {
        const { path, iid } = await namedIn('issue', target, placeOf(call));
        return { target_project_id: path, target_issue_iid: iid, link_type };
      },
    },
    unlink: { runs: 'deleteIssueLink' },
  },
  Epic: {
    link: {
      runs: 'linkEpics',
      takes: async (call, { target, link_type }) => {
        const { path, iid } = await namedIn('epic', target, placeOf(call));
        return { target_group_id: path, target_epic_iid: iid, link_type };
      },
    },
    unlink: { runs: 'unlinkEpics' },
  },
} as const satisfies Record<string, Record<string, PageForm>>;

/** What this one is to the other one, as a new link says it. */
const linkWords: Record<string, string> = {
  relates_to: 'Relates to',
  blocks: 'Blocks',
  is_blocked_by: 'Is blocked by',
};

/** Lists say what the other one is to this one. */
const listedWords: Record<string, string> = {
  relates_to: linkWords.relates_to!,
  blocks: linkWords.is_blocked_by!,
  is_blocked_by: linkWords.blocks!,
};

interface Linked {
  title: string;
  state: string;
  web_url: string;
  references: { relative: string };
  link_type: string;
}

/** What is linked, and by what. */
interface Links<Item> {
  kind: 'issue' | 'epic';
  links: readonly Item[];
  /** The field that names a link. */
  nameOf(item: Item): Field;
  /** Whether links can say that one blocks the other. */
  mayBlock: boolean;
}

function newLinkView(seen: Seen, kind: 'issue' | 'epic', mayBlock: boolean): Html {
  const types = Object.entries(linkWords).filter(([value]) => mayBlock || value === 'relates_to');
  const linking = form(seen, 'link', {
    fields: [
      { name: 'link_type', label: 'Kind', kind: 'select', options: types.map(([value, label]) => ({ value, label })) },
      {
        name: 'target',
        label: kind === 'issue' ? 'Issue' : 'Epic',
        help: `Such as 3, ${kind === 'issue' ? 'group/project#3' : 'group&3'}, or its address.`,
        is_required: true,
      },
    ],
    button: 'Add link',
    look: 'plain',
  });
  return html`<details ?open="${refusalIn(seen, 'link') !== undefined}"><summary>Link an ${kind}</summary>${linking}</details>`;
}

/** The links of an issue or epic, with the forms for those who may change it; nothing if there is nothing to show. */
export function linksView<Item extends Linked>(
  seen: Seen,
  { kind, links, nameOf, mayBlock }: Links<Item>,
): Html | undefined {
  const mayChange = seen.may('link') && seen.may('change');
  if (links.length === 0 && !mayChange) return undefined;
  const unlinking = (item: Item) =>
    mayChange &&
    form(seen, 'unlink', {
      fields: [nameOf(item)],
      button: html`Remove<span class="visually-hidden"> the link to ${item.title}</span>`,
      look: 'plain',
      key: String(nameOf(item).value),
    });
  const linked = links.map(
    (each) =>
      html`${listedWords[each.link_type]} <a href="${pathOf(each.web_url)}">${each.title}</a> <span class="soft">${each.references.relative}</span> ${state(each.state)} ${unlinking(each)}`,
  );
  return html`<h2>Linked ${kind}s</h2>${rows(linked, 'There are none.')}${mayChange && newLinkView(seen, kind, mayBlock)}`;
}

/** Reads a page of the comments on an item, with the changes made in between. */
import type { Static } from 'typebox';
import { capitalized } from '../../../http/index.ts';
import { type Html, html, label, type Operation, type PageCall } from '../../../pages/index.ts';
import { Discussion } from '../../conversation/discussions/index.ts';
import { resourceEventForms } from '../../conversation/resource_events/index.ts';
import type { Change, NoteTexts, Noun, ShownNote, Thread, Timeline } from './definition.ts';
import { type TextPlace, textsAsHtml } from './present.ts';
import { withoutSuggestions } from './suggestion_views.ts';
import { ticksOfDescription, ticksOfNote } from './ticking_rules.ts';

const threads_per_page = 50;
/** The maximum number of changes read of each kind. */
const maximumChanges = 100;

type Read = Pick<PageCall, 'list' | 'perhaps' | 'query'>;

/** The threads of the requested page; `last` is the page with new comments. */
async function threadsOf({ list, query }: Read, noun: Noun, parameters: Named) {
  const ask = (page: unknown) =>
    list(Discussion, `show${noun}Discussions`, { ...parameters, per_page: threads_per_page, page: page ?? 1 });
  if (query.page !== 'last') return ask(query.page);
  const first = await ask(1);
  const last = Math.ceil((first.total ?? 1) / threads_per_page);
  return last > 1 ? ask(last) : first;
}

const verbs = { add: 'added', remove: 'removed' } as const;
const states = {
  opened: 'opened this',
  closed: 'closed this',
  reopened: 'reopened this',
  merged: 'merged this',
} as const;

type Forms = typeof resourceEventForms;
type Words = { [Kind in keyof Forms]: (event: Static<Forms[Kind]>) => Change['what'] };

const words: Words = {
  label: ({ action, label: changed }) =>
    html`${verbs[action]} ${changed ? label(changed.name, changed.color) : 'a label that was deleted'}`,
  state: ({ state }) => states[state],
  milestone: ({ action, milestone }) => `${verbs[action]} the milestone ${milestone?.title ?? 'that was deleted'}`,
  weight: ({ weight }) => (weight === null ? 'removed the weight' : `set the weight to ${weight}`),
  iteration: ({ action, iteration }) =>
    `${verbs[action]} the iteration ${iteration ? `${iteration.start_date} – ${iteration.due_date}` : 'that was deleted'}`,
};

const kindsOf = {
  Issue: ['label', 'state', 'milestone', 'weight', 'iteration'],
  MergeRequest: ['label', 'state', 'milestone'],
  Epic: ['label', 'state'],
} as const;

async function changesOfKind<Kind extends keyof Forms>(
  { list, perhaps }: Read,
  noun: Noun,
  kind: Kind,
  parameters: Named,
) {
  // `kindsOf` lists the kinds of each noun.
  const operation = `list${noun}${capitalized(kind)}Events` as Extract<Operation, `list${Noun}${string}Events`>;
  // Some kinds may be missing under the plan.
  const page = await perhaps(list(resourceEventForms[kind], operation, { ...parameters, per_page: maximumChanges }));
  const say = words[kind] as (event: unknown) => Change['what'];
  const items = (page?.items ?? []) as readonly { user: Change['user']; created_at: string }[];
  return {
    has_more: page?.has_more ?? false,
    changes: items.map((event): Change => ({ at: event.created_at, user: event.user, what: say(event) })),
  };
}

const startOf = ({ notes }: Thread): string => notes[0]!.created_at;

/** What operations need of an item that the path of its page does not name: epics are named by number there. */
interface Named {
  epic_id?: number;
}

/** The requested page of the timeline. A change is on the page of the preceding thread, or on the first one. */
export async function timelineOf(call: Read, noun: Noun, parameters: Named = {}): Promise<Timeline> {
  const [threads, ...read] = await Promise.all([
    threadsOf(call, noun, parameters),
    ...kindsOf[noun].map((kind) => changesOfKind(call, noun, kind, parameters)),
  ]);
  const from = threads.page === 1 || threads.items.length === 0 ? '' : startOf(threads.items[0]!);
  const following = threads.has_more
    ? await call.list(Discussion, `show${noun}Discussions`, {
        ...parameters,
        per_page: 1,
        page: threads.page * threads_per_page + 1,
      })
    : undefined;
  const until = following?.items[0] ? startOf(following.items[0]) : undefined;
  const changes = read
    .flatMap((kind) => kind.changes)
    .filter(({ at }) => at >= from && (until === undefined || at < until));
  return {
    threads,
    changes: changes.toSorted((one, other) => one.at.localeCompare(other.at)),
    has_more_changes: read.some(({ has_more }) => has_more),
  };
}

/** The text of a comment; its suggestions are shown as changes. */
const writtenIn = ({ body, suggestions }: ShownNote): string =>
  suggestions && suggestions.length > 0 ? withoutSuggestions(body) : body;

/**
 * The notes of some threads as HTML.
 * @param item what they are on, with its description, on a page with forms for the boxes in these texts (`tickForms`)
 */
export async function textsOf(
  call: Pick<PageCall, 'services' | 'caller' | 'may'>,
  place: TextPlace | undefined,
  threads: readonly Thread[],
  item?: { noun: Noun; description: string | null },
): Promise<{ description: Html | undefined; texts: NoteTexts }> {
  const notes = threads.flatMap((thread) => thread.notes);
  const ticks = item && [
    await ticksOfDescription(call, item.noun, item.description),
    ...notes.map((note) => ticksOfNote(call, note)),
  ];
  const [description, ...texts] = await textsAsHtml(call, place, [item?.description, ...notes.map(writtenIn)], ticks);
  return { description, texts: new Map(notes.map(({ id }, index) => [id, texts[index]])) };
}

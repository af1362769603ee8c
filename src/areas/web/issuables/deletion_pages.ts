/** Deleting an issue, an epic or a merge request: what is lost is said first. */
import { pageBelow } from '../../../access/index.ts';
import { type AnyPage, confirmation, form, html, type PageCall, page } from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { Discussion } from '../../conversation/discussions/index.ts';
import { Epic } from '../../work/epics/index.ts';
import { Issue } from '../../work/issues/index.ts';
import { MergeRequest } from '../../work/merge_requests/index.ts';
import type { Noun } from './definition.ts';
import { pathOf } from './present.ts';

interface Deleted {
  id: number;
  title: string;
  web_url: string;
  references: { short: string };
}

interface Deletion {
  noun: Noun;
  kind: 'project' | 'group';
  /** The name of its list in addresses. */
  list: 'issues' | 'merge_requests' | 'epics';
  /** The address of one. */
  path: string;
  runs: 'deleteProjectIssue' | 'deleteMergeRequest' | 'deleteEpic';
  name: string;
  /** What is left of it. */
  kept: string;
  read(call: PageCall): Promise<Deleted>;
}

const deletions: readonly Deletion[] = [
  {
    noun: 'Issue',
    kind: 'project',
    list: 'issues',
    path: '/:id/-/issues/:issue_iid',
    runs: 'deleteProjectIssue',
    name: 'issue',
    kept: 'Merge requests about it stay.',
    read: ({ one }) => one(Issue, 'getProjectIssue'),
  },
  {
    noun: 'MergeRequest',
    kind: 'project',
    list: 'merge_requests',
    path: '/:id/-/merge_requests/:merge_request_iid',
    runs: 'deleteMergeRequest',
    name: 'merge request',
    kept: 'Both branches stay as they are.',
    read: ({ one }) => one(MergeRequest, 'getMergeRequest'),
  },
  {
    noun: 'Epic',
    kind: 'group',
    list: 'epics',
    path: '/groups/:id/-/epics/:epic_iid',
    runs: 'deleteEpic',
    name: 'epic',
    kept: 'Its issues and child epics stay, without it.',
    read: ({ one }) => one(Epic, 'getEpic'),
  },
];

const deletionPage = ({ noun, kind, list, path, runs, name, kept, read }: Deletion) =>
  page(`${path}/delete`, {
    signed_in: true,
    load: async (call) => {
      const item = await read(call);
      const named = noun === 'Epic' ? { epic_id: item.id } : {};
      const threads = await call.list(Discussion, `show${noun}Discussions`, { ...named, per_page: 1 });
      return { id: call.params.id!, item, threads: threads.total };
    },
    forms: {
      remove: {
        runs,
        typed: async (call) => (await read(call)).references.short,
        next: (_: never, { params }: PageCall) => pageBelow[kind](params.id!, list),
      },
    },
    view: ({ id, item, threads }, seen) => {
      const { title, web_url, references } = item;
      return {
        title: [`Delete ${title}`, references.short, id],
        place: { id, kind, tab: list },
        main: html`<p>The ${name} is gone at once, with its description and its conversation${threads ? ` of ${counted(threads, 'entry', 'entries')}` : ''}. Nobody can bring it back. ${kept}</p>
${
  form(seen, 'remove', {
    fields: [confirmation(references.short)],
    button: `Delete ${references.short}`,
    look: 'danger',
  }) ?? html`<p>You may not delete this ${name}.</p>`
}
<p><a href="${pathOf(web_url)}">Back to the ${name}</a></p>`,
      };
    },
  });

export const deletionPages: readonly AnyPage[] = deletions.map(deletionPage);

/** What a merge request waits for, what waits for it, and the issues that it is about. */
import type { Static } from 'typebox';
import { invalid, type Values } from '../../../http/index.ts';
import {
  type Content,
  form,
  html,
  mergeRequestState,
  type PageCall,
  rows,
  type Seen,
  state,
  textIn,
} from '../../../pages/index.ts';
import { Issue } from '../../work/issues/index.ts';
import { MergeRequest } from '../../work/merge_requests/index.ts';
import { part } from '../declared/definition.ts';
import { listPart } from '../declared/list_present.ts';
import { pathOf } from '../issuables/present.ts';
import { partPage } from './part_pages.ts';

/** A merge request of a block; one that is hidden from the reader has an id only. */
type Blocking = Partial<Pick<Static<typeof MergeRequest>, 'title' | 'state' | 'web_url' | 'references'>>;

const nameOf = ({ references }: Blocking): string => references?.full ?? 'A merge request that you may not see';

const blockView = (of: Blocking): Content =>
  of.web_url === undefined
    ? nameOf(of)
    : html`${mergeRequestState(of.state!)} <a href="${pathOf(of.web_url)}">${of.title}</a> <span class="soft">${nameOf(of)}</span>`;

const blocking = ({ blocking_merge_request }: Values): Blocking => blocking_merge_request as Blocking;
const blocked = ({ blocked_merge_request }: Values): Blocking => blocked_merge_request as Blocking;

/** `!3` of the same project, `group/project!3`, or the address of the page. */
const reference = /(?:^|\/\/[^/]+\/)?([^!]*?)(?:\/-\/merge_requests\/|!|^)(\d{1,9})$/;

/** The merge request that somebody means. @throws ApiError 400 if there is none that the caller may see */
async function namedBy(call: PageCall, text: string): Promise<{ id: number }> {
  const [, project = '', merge_request_iid] = reference.exec(text.trim()) ?? [];
  const of = project === '' ? {} : { id: project };
  const found =
    merge_request_iid && (await call.perhaps(call.one(MergeRequest, 'getMergeRequest', { ...of, merge_request_iid })));
  if (!found) throw invalid({ blocking_merge_request: ['is not found'] });
  return found;
}

/** The form for a further block. */
const newBlock = part<true>({
  forms: {
    add_block: {
      runs: 'createMergeRequestBlock',
      takes: async (call, fields) => ({
        blocking_merge_request_id: (await namedBy(call, textIn(fields, 'blocking_merge_request') ?? '')).id,
      }),
    },
  },
  load: async () => true,
  view: (_, seen: Seen) =>
    form(seen, 'add_block', {
      fields: [
        {
          name: 'blocking_merge_request',
          label: 'Merge request to wait for',
          is_required: true,
          help: '!3, or group/project!3 of another project.',
          refused_as: ['blocking_merge_request_id'],
        },
      ],
      button: 'Wait for it',
    }),
});

const relatedIssues = part<readonly Static<typeof Issue>[]>({
  load: async ({ list }) => (await list(Issue, 'listIssuesRelatedToMergeRequest', { per_page: 100 })).items,
  view: (issues) =>
    html`<h2>Issues</h2>${rows(
      issues.map(
        (issue) =>
          html`${state(issue.state)} <a href="${pathOf(issue.web_url)}">${issue.title}</a> <span class="soft">${issue.references.full}</span>`,
      ),
      'No issue is closed or mentioned by it, or mentions it.',
    )}`,
});

export const relatedPage = partPage('/related', {
  parts: [
    listPart('block', {
      heading: 'Waits for',
      list: 'listMergeRequestBlocks',
      intro: 'It cannot be merged before these are.',
      names: ({ id }) => ({ block_id: Number(id) }),
      title: (block) => nameOf(blocking(block)),
      head: (block) => blockView(blocking(block)),
      empty: 'It waits for no other merge request.',
      buttons: { remove: { runs: 'deleteMergeRequestBlock', label: 'Remove' } },
    }),
    newBlock,
    listPart('blockee', {
      heading: 'Wait for it',
      list: 'listMergeRequestBlockees',
      names: ({ id }) => ({ block_id: Number(id) }),
      title: (block) => nameOf(blocked(block)),
      head: (block) => blockView(blocked(block)),
      empty: 'No other merge request waits for it.',
    }),
    relatedIssues,
  ],
});

/** New releases, and what is changed of one (docs/reference/releases.md#the-pages). */
import type { Values } from '../../../http/index.ts';
import type { PageCall } from '../../../pages/index.ts';
import { MergeRequestInList } from '../../work/merge_requests/index.ts';
import { Release, releasePage } from '../../work/releases/index.ts';
import { fieldsOf, formOf, sectionPage } from '../declared/definition.ts';
import { choicesOf, formPart, reading } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';
import { nextTag, notesOf } from './proposal_rules.ts';

/** The most merge requests in the notes that are proposed. */
const proposed = 100;

/** The tag, and the notes of what was merged into the default branch since the last release. */
async function proposal(call: PageCall): Promise<Values> {
  const { list, perhaps, query } = call;
  const [{ default_branch }, { items }] = await Promise.all([
    reading('getProject')(call),
    list(Release, 'listReleases', { per_page: 1 }),
  ]);
  const [last] = items;
  const asked = { state: 'merged', order_by: 'merged_at', sort: 'desc', per_page: proposed };
  const found = await perhaps(
    list(MergeRequestInList, 'listProjectMergeRequests', {
      ...asked,
      ...(typeof default_branch === 'string' && { target_branch: default_branch }),
    }),
  );
  const isNew = ({ merged_at }: { merged_at?: string | null }) => !last || String(merged_at) > last.released_at;
  return {
    tag_name: query.tag_name ?? nextTag(last?.tag_name),
    ref: default_branch,
    description: notesOf((found?.items ?? []).filter(isNew)),
  };
}

const fields = fieldsOf({
  name: { label: 'Title', help: 'By default the tag.' },
  description: { label: 'Notes', kind: 'markdown', help: 'Markdown.' },
  milestones: {
    kind: 'checkboxes',
    choices: choicesOf('listProjectMilestones', { value: 'title', label: 'title' }),
    from: ({ milestones }) => ((milestones ?? []) as { title: string }[]).map(({ title }) => title),
  },
  released_at: { label: 'Released at', help: 'In UTC. A time to come makes it an upcoming release.' },
});

/** The page of the release that a form has made or changed. */
const toRelease = ({ tag_name }: Values, { params }: PageCall) => releasePage(params.id!, String(tag_name));

const tab = 'releases';

export const newReleasePage = sectionPage(
  '/:id/-/releases/new',
  { tab, operation: 'createRelease', title: 'New release' },
  [
    formPart(
      'release',
      formOf(
        'createRelease',
        {
          tag_name: { label: 'Tag', help: 'One that exists, or a new one.' },
          ref: { label: 'Made from', help: 'The branch or commit of a new tag.' },
          tag_message: { label: 'Message of a new tag', help: 'Makes it an annotated tag.' },
          ...fields,
        },
        { button: 'Create release', starts: proposal, next: toRelease },
      ),
    ),
  ],
);

const linkFields = fieldsOf({
  name: { label: 'Name' },
  url: { label: 'Address' },
  link_type: {
    label: 'Kind',
    value: 'other',
    words: { other: 'Other', runbook: 'Runbook', image: 'Image', package: 'Package' },
  },
});

export const editReleasePage = sectionPage(
  '/:id/-/releases/:tag_name/edit',
  {
    ...{ tab, operation: 'updateRelease', title: 'Releases' },
    titled: async ({ one }) => `Edit ${(await one(Release, 'getRelease')).name}`,
  },
  [
    formPart('release', {
      ...formOf('updateRelease', fields, { button: 'Save release', next: toRelease }),
      reads: reading('getRelease'),
    }),
    listPart('link', {
      list: 'listReleaseLinks',
      heading: 'Links',
      names: ({ id }) => ({ link_id: Number(id) }),
      title: 'name',
      line: ['url', 'link_type'],
      empty: 'It has no links.',
      create: formOf(
        'createReleaseLink',
        {
          ...linkFields,
          direct_asset_path: { label: 'Permanent path', help: 'Such as /bin/pick: the address below the release.' },
        },
        { button: 'Add the link', heading: 'New link' },
      ),
      edit: formOf('updateReleaseLink', linkFields, { button: 'Save' }),
      buttons: { remove: { runs: 'deleteReleaseLink', label: 'Delete', look: 'danger', done: 'The link is deleted.' } },
    }),
    formPart('remove', {
      ...formOf(
        'deleteRelease',
        {},
        {
          heading: 'Delete the release',
          intro: 'Its notes, links and evidence are gone. The tag stays.',
          button: 'Delete release',
          look: 'danger',
          next: (_, { params }) => releasePage(params.id!, '').replace(/\/$/, ''),
        },
      ),
    }),
  ],
);

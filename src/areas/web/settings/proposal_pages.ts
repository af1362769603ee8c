/** Imported work from other servers that is proposed to be the visitor's. */
import { proposalsPage } from '../../../access/index.ts';
import { form, html, page, pager, pagingOf, rows } from '../../../pages/index.ts';
import { PlaceholderProposal } from '../../migration/placeholders/index.ts';
import { besideMap } from '../declared/definition.ts';

const words = { accept: 'That is me', reject: 'That is not me' } as const;

const ownProposalsPage = page(proposalsPage, {
  signed_in: true,
  load: ({ list, query }) => list(PlaceholderProposal, 'listPlaceholderProposals', pagingOf({ query })),
  forms: {
    accept: { runs: 'acceptPlaceholderProposal', is_sensitive: true },
    reject: { runs: 'rejectPlaceholderProposal' },
  },
  view: (proposals, seen) => ({
    title: ['Work that is said to be yours'],
    main: html`<p>Someone imported work of these users from another server, which gave your email address. Nothing is in your name unless you accept.</p>
${rows(
  proposals.items.map(
    ({
      id,
      source_username,
      source_name,
      source_host,
      group_full_path,
      imported_by,
    }) => html`<strong>${source_name}</strong> (${source_username} at ${source_host})
<div class="soft">Imported into ${group_full_path}${imported_by !== null && ` by @${imported_by}`}</div>
${(['accept', 'reject'] as const).map((name) =>
  form(seen, name, {
    fields: [{ name: 'placeholder_id', label: '', kind: 'hidden', value: id }],
    button: html`${words[name]} <span class="visually-hidden">${source_username} at ${source_host}</span>`,
    look: name === 'accept' ? 'plain' : 'danger',
    key: id,
  }),
)}`,
  ),
  'No work waits for your answer.',
)}
${pager(proposals, seen)}`,
  }),
});

export const placeholderProposalsPage = besideMap('own', 'proposals', ownProposalsPage);

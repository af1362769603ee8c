/** Moving an issue to another project, and copying it. */
import { filterForm, form, html, type Option, page, textIn } from '../../../pages/index.ts';
import { Issue } from '../../work/issues/index.ts';
import { choicesOf } from '../declared/form_present.ts';
import { pathIn, pathOf } from '../issuables/present.ts';

const toIssue = ({ web_url }: { web_url: string }): string => pathOf(web_url);

const projectField = (options: readonly Option[]) => ({
  name: 'to_project_id',
  label: 'Project',
  kind: 'select' as const,
  options,
});

export const moveIssuePage = page('/:id/-/issues/:issue_iid/move', {
  signed_in: true,
  load: async (call) => {
    const search = textIn(call.query, 'search');
    const asked = { membership: true, archived: false, order_by: 'last_activity_at', ...(search && { search }) };
    const [issue, projects] = await Promise.all([
      call.one(Issue, 'getProjectIssue'),
      choicesOf('listProjects', { label: 'path_with_namespace', parameters: asked })(call),
    ]);
    return { issue, projects };
  },
  forms: {
    move: { runs: 'moveIssue', next: toIssue },
    copy: { runs: 'cloneIssue', next: toIssue },
  },
  view: ({ issue, projects }, seen) => {
    const id = pathIn(issue.references.full);
    const others = projects.filter(({ value }) => value !== issue.project_id);
    return {
      title: [`Move or copy ${issue.title}`, `#${issue.iid}`, id],
      place: { id, kind: 'project', tab: 'issues' },
      main: html`${filterForm(seen, [{ name: 'search', label: 'Find projects' }], 'Find')}
<h2>Move</h2>
<p class="soft">The issue goes on in the other project, with its comments and what both projects have of its labels, milestone and people. Here it is closed, and says where it went.</p>
${others.length > 0 ? form(seen, 'move', { fields: [projectField(others)], button: 'Move the issue' }) : html`<p>There is no other project of yours with this name.</p>`}
<h2>Copy</h2>
<p class="soft">The copy is a new issue of yours. This one stays as it is.</p>
${
  projects.length > 0 &&
  form(seen, 'copy', {
    fields: [projectField(projects), { name: 'with_notes', label: 'With its comments', kind: 'checkbox' }],
    button: 'Copy the issue',
    look: 'plain',
  })
}
<p><a href="${pathOf(issue.web_url)}">Back to the issue</a></p>`,
    };
  },
});

/** Views of lists of projects. */
import type { Static } from 'typebox';
import { projectPage } from '../../../access/index.ts';
import type { Page } from '../../../http/index.ts';
import { chip, type Html, html, pager, rows, type Seen, time } from '../../../pages/index.ts';
import type { ProjectWithAccessForm } from '../../spaces/projects/index.ts';

/** @param empty the text if there are none */
export const projectRows = (projects: Page<Static<typeof ProjectWithAccessForm>>, seen: Seen, empty: string): Html =>
  html`${rows(
    projects.items.map(
      (project) =>
        html`<a class="title" href="${projectPage(project.path_with_namespace)}">${project.name_with_namespace}</a>
${chip(project.visibility)}
<div class="soft">${project.description && html`${project.description}<br>`}Last activity ${time(project.last_activity_at)}</div>`,
    ),
    empty,
  )}
${pager(projects, seen)}`;

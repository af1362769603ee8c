/** The rule of lists of issues. */
import type { Access } from '../http/endpoint.ts';
import { notFound } from '../http/errors.ts';
import { type MaybeCaller, mayUse, type Project, projectVisible } from './projects.ts';

/** Grants the project in `:id` to everyone who may read its issues, signed in or not. Where they are switched off there are none to find. */
export const issuesVisible: Access<{ caller: MaybeCaller; project: Project }> = {
  rule: 'project:read_issues',
  async check(call) {
    const granted = await projectVisible.check(call);
    if (!mayUse(granted.project, 'issues')) throw notFound();
    return granted;
  },
};

/** Whether projects do what their frameworks demand, in replies (docs/reference/compliance_frameworks.md#status). */
import { type Static, Type } from 'typebox';
import { projectPage } from '../../../access/index.ts';
import { Id, nullable, resource, Timestamp } from '../../../http/index.ts';
import { controls, type ProjectFacts } from '../../code/compliance_frameworks/index.ts';

const Status = Type.Enum(['pass', 'fail']);

const Failed = Type.Object({
  name: Type.String(),
  sentence: Type.String({ description: 'What the project has to do' }),
  web_url: Type.String({ description: 'The page that changes it' }),
});

export const ComplianceStatus = resource('ComplianceStatus', {
  project: Type.Object({ id: Id, name: Type.String(), path_with_namespace: Type.String(), web_url: Type.String() }),
  status: Status,
  frameworks: Type.Array(
    Type.Object({
      id: Id,
      name: Type.String(),
      color: Type.String(),
      status: Status,
      requirements: Type.Array(
        Type.Object({
          name: Type.String(),
          description: nullable(Type.String()),
          status: Status,
          failed: Type.Array(Failed),
        }),
      ),
    }),
  ),
  checked_at: Timestamp,
});
export type ComplianceStatus = Static<typeof ComplianceStatus>;

/** A project with its frameworks, as a statement reads it. */
export interface DemandedRow {
  id: number;
  name: string;
  full_path: string;
  frameworks: {
    id: number;
    name: string;
    color: string;
    requirements: { name: string; description: string | null; controls: string[] }[];
  }[];
  checked_at: string;
}

const statusOf = (parts: readonly { status: 'pass' | 'fail' }[]): 'pass' | 'fail' =>
  parts.every(({ status }) => status === 'pass') ? 'pass' : 'fail';

/** @param url of the server */
export function presentStatus(url: string, row: DemandedRow, facts: ProjectFacts): ComplianceStatus {
  const web_url = url + projectPage(row.full_path);
  const failedOf = (names: readonly string[]) =>
    names.flatMap((name) => {
      const control = controls.get(name);
      if (!control || control.isPassed(facts)) return [];
      return [{ name, sentence: control.sentence(facts), web_url: web_url + control.page }];
    });
  const frameworks = row.frameworks.map(({ requirements, ...framework }) => {
    const judged = requirements.map(({ name, description, controls: names }) => {
      const failed = failedOf(names);
      return { name, description, status: failed.length === 0 ? ('pass' as const) : ('fail' as const), failed };
    });
    return { ...framework, status: statusOf(judged), requirements: judged };
  });
  const { id, name, full_path, checked_at } = row;
  return {
    project: { id, name, path_with_namespace: full_path, web_url },
    status: statusOf(frameworks),
    frameworks,
    checked_at,
  };
}

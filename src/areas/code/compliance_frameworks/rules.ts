/** What a framework may say (docs/reference/compliance_frameworks.md#parameters). Pure functions. */
import { hexColorReasons, tooLong } from '../../../texts/index.ts';
import { controls } from './control_rules.ts';

const longest = 255;
const mostRequirements = 50;
export const defaultColor = '#1f7a3d';
const unknownControlText = 'control name is not included in the list';
/** The most frameworks of a group. */
export const mostFrameworks = 100;

export interface Requirement {
  name: string;
  description?: string | null | undefined;
  controls: readonly { name: string }[];
}

export interface FrameworkValues {
  name: string;
  description: string;
  color: string;
  requirements: readonly Requirement[];
}

export const takenText = 'Name has already been taken';

const named = (subject: string, reasons: readonly string[]): string[] =>
  reasons.map((reason) => `${subject} ${reason}`);

const textReasons = (subject: string, text: string): string[] =>
  named(subject, text.trim() === '' ? ["can't be blank"] : tooLong(text, longest));

function requirementReasons({ name, description, controls: given }: Requirement): string[] {
  return [
    ...textReasons('requirement name', name),
    ...named('requirement description', tooLong(description ?? '', longest)),
    ...(given.length === 0 ? ["controls can't be blank"] : []),
    ...(given.every((control) => controls.has(control.name)) ? [] : [unknownControlText]),
  ];
}

/** Why values are not accepted, as sentences. */
export function frameworkReasons({ name, description, color, requirements }: FrameworkValues): string[] {
  const own = [
    ...textReasons('Name', name),
    ...textReasons('Description', description),
    ...named('Color', hexColorReasons(color)),
  ];
  if (requirements.length > mostRequirements)
    return [...own, `requirements are too many (maximum is ${mostRequirements})`];
  const names = new Set(requirements.map((requirement) => requirement.name));
  const alike = names.size < requirements.length ? ['requirement name has already been taken'] : [];
  return [...new Set([...own, ...alike, ...requirements.flatMap(requirementReasons)])];
}

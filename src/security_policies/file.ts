/** The policies of a file, or what is wrong with it. Pure functions. */
import { type Findings, Place } from '../ci_configuration/shapes/shape.ts';
import { Invalid, isList, isMapping, type Value } from '../ci_configuration/values.ts';
import { readYaml } from '../ci_configuration/yaml.ts';
import { type Policy, policy } from './policies.ts';

/** The largest file, in bytes of UTF-8. */
export const maximumFile_bytes = 256 * 1024;
const maximumPolicies = 5;
/** The most errors that are kept; a file can have thousands. */
const maximumErrors = 50;
/** The longest error; it can name a key that is as long as the file. */
const maximumError_chars = 500;
/** The most that policies come to as JSON: aliases can make them longer than their file, and they are read with each merge request. */
const maximumPolicies_chars = 512 * 1024;

/** Kinds that other systems know. A file with one of them is refused, so that nobody counts on it. */
const unsupported = [
  'scan_execution_policy',
  'pipeline_execution_policy',
  'pipeline_execution_schedule_policy',
  'vulnerability_management_policy',
  'ci_component_publishing_policy',
];
const known = 'approval_policy';

/** What a file says: policies, or errors for people. */
export interface ReadPolicies {
  policies: Policy[];
  errors: string[];
}

export const tooLarge = `The file is larger than ${maximumFile_bytes / 1024} KiB.`;

const tooWide = `The policies are larger than ${maximumPolicies_chars / 1024} KiB.`;

const shortened = (error: string): string =>
  error.length > maximumError_chars ? `${error.slice(0, maximumError_chars - 1).toWellFormed()}…` : error;

const refused = (...errors: string[]): ReadPolicies => ({
  policies: [],
  errors: errors.slice(0, maximumErrors).map(shortened),
});

/** Reports names that are there twice: rules of merge requests go by them. */
function checkNames(policies: readonly Policy[], at: Place): void {
  const names = policies.map(({ name }) => name);
  for (const name of new Set(names))
    if (names.indexOf(name) !== names.lastIndexOf(name)) at.fault(`has the name ${name} twice`);
}

function policiesAt(value: Value, at: Place): Policy[] {
  if (value === null) return [];
  if (!isList(value)) {
    at.fault('should be a list');
    return [];
  }
  if (value.length > maximumPolicies) {
    at.fault(`has too many entries (maximum ${maximumPolicies})`);
    return [];
  }
  const read = value.flatMap((each, index) => policy(each, at.entry(String(index + 1))) ?? []);
  checkNames(read, at);
  return read;
}

function policiesOf(root: Value): ReadPolicies {
  if (root === null) return { policies: [], errors: [] };
  if (!isMapping(root)) return refused('The file should be a hash.');
  const findings: Findings = { errors: [], warnings: [] };
  const at = new Place(findings, '', '');
  for (const key of root.keys()) {
    if (unsupported.includes(key)) findings.errors.push(`${key} is not supported yet`);
    else if (key !== known) findings.errors.push(`${key} is not a kind of policies`);
  }
  const policies = policiesAt(root.get(known) ?? null, at.entry(known));
  if (findings.errors.length > 0) return refused(...findings.errors);
  return JSON.stringify(policies).length > maximumPolicies_chars ? refused(tooWide) : { policies, errors: [] };
}

/** Reads a file. A file with errors has no policies. */
export function policiesIn(text: string): ReadPolicies {
  if (Buffer.byteLength(text) > maximumFile_bytes) return refused(tooLarge);
  try {
    const { documents, doubled } = readYaml(text);
    if (doubled.size > 0) return refused(...[...doubled].map((key) => `${key} is there twice`));
    if (documents.length > 1) return refused('The file has several documents.');
    return policiesOf(documents[0]?.value ?? null);
  } catch (error) {
    if (error instanceof Invalid) return refused(error.message);
    throw error;
  }
}

/** Rules on the licenses of dependencies. */
import { attribute, boolean, oneOf } from '../../ci_configuration/shapes/shape.ts';
import type { LicensedPackage } from '../facts.ts';
import { listOf, word } from '../lists.ts';
import { ruleKind } from './kind.ts';

const maximumTypes = 1_000;
/** The most packages that are told one by one. */
const maximumTold = 20;

const sentenceOf = ({ package: name, licenses }: LicensedPackage): string =>
  licenses.includes('unknown')
    ? `No file says which license ${name} has.`
    : `${name} has the license ${licenses.join(', ')}.`;

export const licenseFinding = ruleKind({
  type: 'license_finding',
  report_type: 'license_scanning',
  members: {
    match_on_inclusion_license: attribute(boolean),
    license_types: attribute(listOf(word, maximumTypes)),
    license_states: attribute(listOf(oneOf(['newly_detected', 'detected']), 2)),
  },
  required: ['match_on_inclusion_license', 'license_types', 'license_states'],
  needs: () => ['packages'],
  reasons({ match_on_inclusion_license: forbids, license_types = [], license_states = [] }, { packages }) {
    const named = new Set(license_types.map((license) => license.toLowerCase()));
    const found = packages.filter(({ is_new, licenses }) => {
      if (!license_states.includes(is_new ? 'newly_detected' : 'detected')) return false;
      return licenses.some((license) => named.has(license.toLowerCase()) === forbids);
    });
    const more = found.length - maximumTold;
    const told = found.slice(0, maximumTold).map(sentenceOf);
    return more > 0 ? [...told, `${more.toLocaleString('en')} more are not shown.`] : told;
  },
});

/** Which addresses may join: lists of domains, and a regular expression for refused addresses (docs/reference/application_settings.md). */
import { checkExpression, InvalidExpression, MatchingTimeout, matchEach } from '../../../expressions/index.ts';

export interface EmailRules {
  /** The only domains that may join; empty: any. `*` matches any text. */
  domain_allowlist: readonly string[];
  domain_denylist_enabled: boolean;
  domain_denylist: readonly string[];
  email_restrictions_enabled: boolean;
  /** Addresses must not match this, in RE2 syntax. */
  email_restrictions: string | null;
}

/** The rule that refuses an address. */
export type EmailRefusal = 'allowlist' | 'denylist' | 'restrictions';

/** Whether a domain is in a list, in which `*` stands for any text. Case is ignored. */
function isAmong(list: readonly string[], domain: string): boolean {
  const name = domain.toLowerCase();
  return list.some((entry) => {
    const [first = '', ...others] = entry.toLowerCase().split('*');
    const last = others.pop();
    if (last === undefined) return name === first;
    if (!name.startsWith(first)) return false;
    let at = first.length;
    for (const part of others) {
      const found = name.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return name.length - last.length >= at && name.endsWith(last);
  });
}

/** More than a thousand times the time needed for the addresses of one invitation. */
const maximumMatching_ms = 1_000;

/**
 * The addresses that match the expression; all of them if matching takes too long, or if the expression was stored when
 * larger ones were allowed.
 */
async function restricted(rules: EmailRules, emails: readonly string[]): Promise<readonly boolean[]> {
  if (!rules.email_restrictions_enabled || !rules.email_restrictions) return [];
  try {
    return await matchEach({ source: rules.email_restrictions, ignores_case: true }, emails, maximumMatching_ms);
  } catch (error) {
    if (error instanceof MatchingTimeout || error instanceof InvalidExpression) return emails.map(() => true);
    throw error;
  }
}

/**
 * The rule that refuses each address; undefined for one that may join. No other rule applies to a domain on the allowlist.
 * @param rules from the settings; the regular expression is valid
 */
export async function emailRefusals(
  rules: EmailRules,
  emails: readonly string[],
): Promise<(EmailRefusal | undefined)[]> {
  const { domain_allowlist, domain_denylist_enabled, domain_denylist } = rules;
  const matches = domain_allowlist.length > 0 ? [] : await restricted(rules, emails);
  return emails.map((email, index) => {
    const domain = email.slice(email.lastIndexOf('@') + 1);
    if (domain_allowlist.length > 0) return isAmong(domain_allowlist, domain) ? undefined : 'allowlist';
    if (domain_denylist_enabled && isAmong(domain_denylist, domain)) return 'denylist';
    return matches[index] ? 'restrictions' : undefined;
  });
}

/** Why the entries are not a list of domains, empty if they are. */
export function domainReasons(domains: readonly string[]): string[] {
  const wrong = domains.filter(
    (domain) => domain.length > 253 || !/^[\p{L}\p{N}*](?:[\p{L}\p{N}*.-]*[\p{L}\p{N}*])?$/u.test(domain),
  );
  return wrong.length > 0 ? [`can't include: ${wrong.join(', ')}`] : [];
}

/** Why a text is not a regular expression, empty if it is. */
export async function expressionReasons(expression: string): Promise<string[]> {
  try {
    await checkExpression({ source: expression, ignores_case: true });
    return [];
  } catch (error) {
    if (error instanceof InvalidExpression) return ['is not a valid regular expression'];
    throw error;
  }
}

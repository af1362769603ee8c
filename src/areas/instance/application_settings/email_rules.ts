/** Which addresses may join: lists of domains, and a regular expression for refused addresses (docs/reference/application_settings.md). Pure functions. */
import { RE2JS, RE2JSSyntaxException } from 're2js';

export interface EmailRules {
  /** Domains that may join, and no others; empty: any. `*` matches any text. */
  domain_allowlist: readonly string[];
  domain_denylist_enabled: boolean;
  domain_denylist: readonly string[];
  email_restrictions_enabled: boolean;
  /** Addresses must not match this, in RE2 syntax, which runs in linear time. */
  email_restrictions: string | null;
}

/** The rule that refuses an address. */
export type EmailRefusal = 'allowlist' | 'denylist' | 'restrictions';

const patternFor = (domain: string) =>
  RE2JS.compile(domain.split('*').map(RE2JS.quote).join('.*'), RE2JS.CASE_INSENSITIVE | RE2JS.DOTALL);

/**
 * Returns a function that names the rule that refuses an address, or undefined if it may join. No other rule applies to a domain on the allowlist.
 * @param rules from the settings; the regular expression is valid
 */
export function emailCheck(rules: EmailRules): (email: string) => EmailRefusal | undefined {
  const allowed = rules.domain_allowlist.map(patternFor);
  const denied = rules.domain_denylist_enabled ? rules.domain_denylist.map(patternFor) : [];
  const isRestricting = rules.email_restrictions_enabled && rules.email_restrictions;
  const restricted = isRestricting ? RE2JS.compile(isRestricting, RE2JS.CASE_INSENSITIVE) : undefined;
  return (email) => {
    const domain = email.slice(email.lastIndexOf('@') + 1);
    const isAmong = (patterns: readonly RE2JS[]) => patterns.some((pattern) => pattern.matches(domain));
    if (allowed.length > 0) return isAmong(allowed) ? undefined : 'allowlist';
    if (isAmong(denied)) return 'denylist';
    return restricted?.matcher(email).find() ? 'restrictions' : undefined;
  };
}

/** Why this is not a list of domains, empty when it is. */
export function domainReasons(domains: readonly string[]): string[] {
  const wrong = domains.filter(
    (domain) => domain.length > 253 || !/^[\p{L}\p{N}*](?:[\p{L}\p{N}*.-]*[\p{L}\p{N}*])?$/u.test(domain),
  );
  return wrong.length > 0 ? [`can't include: ${wrong.join(', ')}`] : [];
}

/** Why this is not a regular expression, empty when it is. */
export function expressionReasons(expression: string | null): string[] {
  try {
    RE2JS.compile(expression ?? '');
    return [];
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return ['is not a valid regular expression'];
    throw error;
  }
}

/** The expressions of `rules:if`: `$V == "text" && $W =~ /re/` (docs/reference/ci_configuration.md#conditions). Pure functions. */
import { compiled } from '../expressions/compiling.ts';
import { InvalidExpression } from '../expressions/matching.ts';

const maximum_chars = 10_000;
const maximumOperators = 200;
const maximumExpression_chars = 1_000;

/** How closely an operator binds; among equals, the left one comes first. */
const strength = { '||': 1, '&&': 2, '==': 3, '!=': 3, '=~': 3, '!~': 3 } as const;

type Operator = keyof typeof strength;
interface Regex {
  source: string;
}
/** An undefined variable and `null` are both null. */
type Value = string | boolean | Regex | null;

/** A well-formed expression. */
export type Condition =
  | { variable: string }
  | { value: string | Regex | null }
  | { operator: Operator; left: Condition; right: Condition };

/** The value of a variable, or undefined. */
export type LookUp = (name: string) => string | undefined;

const token =
  /\s*(?:(?<operator>\|\||&&|==|!=|=~|!~)|(?<parenthesis>[()])|\$(?<variable>[A-Za-z_]\w*)|"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<nothing>null)(?!\w)|(?<regex>\/(?:[^/\\]|\\.)+\/[ismU]*)(?!\w))/sy;

const written = /^\/((?:[^/\\]|\\.)+)\/([ismU]*)$/s;

/**
 * The regular expression in a text `/source/flags`.
 * @returns undefined if the text is not one, or not in RE2 syntax
 */
function regexIn(text: string): Regex | undefined {
  const [, source, flags] = written.exec(text) ?? [];
  if (source === undefined || source.length > maximumExpression_chars) return undefined;
  const regex = { source: flags ? `(?${[...new Set(flags)].join('')})${source}` : source };
  try {
    compiled(regex);
    return regex;
  } catch (error) {
    if (error instanceof InvalidExpression) return undefined;
    throw error;
  }
}

function operandOf({
  variable,
  double,
  single,
  nothing,
  regex,
}: Record<string, string | undefined>): Condition | undefined {
  if (variable !== undefined) return { variable };
  if (nothing !== undefined) return { value: null };
  if (regex === undefined) return { value: double ?? single ?? '' };
  const value = regexIn(regex);
  return value && { value };
}

/**
 * Parses an expression, without recursion: parentheses may be nested as deeply as the text allows.
 * @returns undefined for a text that is no expression, that is too long or has too many operators
 */
export function parseCondition(text: string): Condition | undefined {
  if (text.length > maximum_chars) return undefined;
  const operands: Condition[] = [];
  /** Operators whose right operand is not complete, and open parentheses. */
  const open: (Operator | '(')[] = [];
  let operators = 0;
  let wantsOperand = true;
  const reduceWhile = (isMeant: (operator: Operator) => boolean) => {
    for (let last = open.at(-1); last !== undefined && last !== '(' && isMeant(last); last = open.at(-1)) {
      open.pop();
      const right = operands.pop()!;
      operands.push({ operator: last, left: operands.pop()!, right });
    }
  };
  const body = text.trimEnd();
  token.lastIndex = 0;
  while (token.lastIndex < body.length) {
    const { operator, parenthesis, ...parts } = token.exec(body)?.groups ?? { parenthesis: 'none' };
    // A left parenthesis comes where an operand does, a right one where an operator does.
    if (wantsOperand !== (operator === undefined && parenthesis !== ')')) return undefined;
    if (operator !== undefined) {
      const next = operator as Operator;
      if (++operators > maximumOperators) return undefined;
      reduceWhile((last) => strength[last] >= strength[next]);
      open.push(next);
      wantsOperand = true;
    } else if (parenthesis === '(') open.push('(');
    else if (parenthesis === ')') {
      reduceWhile(() => true);
      if (open.pop() !== '(') return undefined;
    } else {
      const operand = parenthesis === undefined ? operandOf(parts) : undefined;
      if (!operand) return undefined;
      operands.push(operand);
      wantsOperand = false;
    }
  }
  reduceWhile(() => true);
  return wantsOperand || open.length > 0 ? undefined : operands[0];
}

/** A regular expression is wanted, and the text is none. */
class NotAnExpression extends Error {
  override name = 'NotAnExpression';
}

const isTruthy = (value: Value): boolean => value !== null && value !== false && value !== '';
const textOf = (value: Value): string =>
  value === null ? '' : typeof value === 'object' ? value.source : String(value);

/** @throws NotAnExpression */
function matches(text: Value, wanted: string | Regex): boolean {
  const regex = typeof wanted === 'string' ? regexIn(wanted) : wanted;
  if (!regex) throw new NotAnExpression();
  return compiled(regex).test(textOf(text));
}

function valueOfCondition(condition: Condition, lookUp: LookUp): Value {
  if ('variable' in condition) return lookUp(condition.variable) ?? null;
  if ('value' in condition) return condition.value;
  const { operator } = condition;
  const left = valueOfCondition(condition.left, lookUp);
  if (operator === '&&' || operator === '||')
    return isTruthy(left) === (operator === '&&')
      ? isTruthy(valueOfCondition(condition.right, lookUp))
      : isTruthy(left);
  const right = valueOfCondition(condition.right, lookUp);
  const isNegated = operator === '!=' || operator === '!~';
  if (operator === '==' || operator === '!=') return (left === right) !== isNegated;
  // Nothing matches an expression that is not there.
  if (right === null) return isNegated;
  return matches(left, typeof right === 'boolean' ? String(right) : right) !== isNegated;
}

/**
 * Whether an expression is true. One that matches with a text that is no regular expression is false.
 * @param lookUp gives the values of variables after the expansion of other variables in them
 */
export function isTrue(condition: Condition, lookUp: LookUp): boolean {
  try {
    return isTruthy(valueOfCondition(condition, lookUp));
  } catch (error) {
    if (error instanceof NotAnExpression) return false;
    throw error;
  }
}

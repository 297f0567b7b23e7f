/** What the packages call options of their functions, as the command line calls them. */

/** `learningRate` as `learning-rate`. */
export function flagName(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `batchMin` as `--batch-min`, wherever it is in a text. */
export function camelCaseAsFlags(text: string): string {
  return text.replaceAll(/\b[a-z]+(?:[A-Z][a-z]+)+\b/g, (name) => `--${flagName(name)}`);
}

/** Options that functions take as members of objects. */
const members: Readonly<Record<string, string>> = {
  "batch.max": "batch",
  "batch.min": "batchMin",
  "batch.reference": "batchReference",
  "batchScaling.rule": "batchScaling",
  "batchScaling.gain": "kappa",
  "batchScaling.step": "beta",
  megaBatchRows: "megaBatch",
  "schedule.rate": "learningRate",
  "schedule.everyEpochs": "scheduleEpochs",
  "schedule.epochs": "scheduleEpochs",
  "schedule.factor": "scheduleFactor",
  "schedule.finalRate": "scheduleFinal",
  "schedule.decay": "scheduleDecay",
};

/** What a policy or a merge rule says of an option, with the option's flag. */
export function optionsAsFlags(message: string): string {
  const named = message
    .replace(/^The (?:merge )?option ([\w.]+) is /, (_, name: string) => `${flagOf(name)} is `)
    // Another option that bounds it is followed by its value.
    .replace(
      /\b(at (?:least|most)) ([a-z]\w*), (?=[\d.])/i,
      (_, bound: string, name: string) => `${bound} ${flagOf(name)}, `,
    );
  return camelCaseAsFlags(named);
}

function flagOf(name: string): string {
  return `--${flagName(members[name] ?? name)}`;
}

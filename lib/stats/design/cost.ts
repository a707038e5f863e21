/** What a plan costs, and what a budget pays for. */
import { named, positive } from '../domain.ts'

/** Money and time of one trial, a plan or a budget. A member that is not given is not known. */
export type Cost = { usd?: number | undefined; minutes?: number | undefined }

export type CostOptions = {
  perTrial?: Cost
  budget?: Cost
}

/** Check what one trial takes and what may be spent. @throws `argument_invalid` */
export function costsOf(options: CostOptions): Required<CostOptions> {
  const checked = (given: Cost | undefined, where: string): Cost => {
    if (given === undefined) return {}
    const { usd, minutes } = named(given, where)
    if (usd !== undefined) positive(usd, `${where}.usd`)
    if (minutes !== undefined) positive(minutes, `${where}.minutes`)
    return { usd, minutes }
  }
  return {
    perTrial: checked(options.perTrial, 'options.perTrial'),
    budget: checked(options.budget, 'options.budget'),
  }
}

/** What some trials take. A member that is not known of one trial is not known of all. */
export function costOf(trials: number, { usd, minutes }: Cost): Cost {
  return {
    ...(usd !== undefined && { usd: trials * usd }),
    ...(minutes !== undefined && { minutes: trials * minutes }),
  }
}

/**
 * How many trials a budget pays for, by its dollars or its minutes, whichever pay for fewer. NaN
 * where neither is given both in the budget and of one trial.
 */
export function trialsFor({ perTrial, budget }: Required<CostOptions>): number {
  const limits = (['usd', 'minutes'] as const).flatMap((unit) => {
    const [each, all] = [perTrial[unit], budget[unit]]
    return each === undefined || all === undefined ? [] : [Math.floor(all / each + 1e-9)]
  })
  return limits.length === 0 ? Number.NaN : Math.min(...limits)
}

/** `$1.20 and 3 minutes`; empty where neither is known. */
export function costText({ usd, minutes }: Cost): string {
  const parts: string[] = []
  if (usd !== undefined) parts.push(`$${usd < 0.1 ? Number(usd.toPrecision(2)) : usd.toFixed(2)}`)
  if (minutes !== undefined)
    parts.push(
      minutes >= 120
        ? `${Number((minutes / 60).toFixed(1))} hours`
        : minutes >= 1
          ? `${Number(minutes.toPrecision(2))} minutes`
          : `${Number((minutes * 60).toPrecision(1))} seconds`,
    )
  return parts.join(' and ')
}

/** `costText` behind a comma; empty where it is. */
export function costInText(cost: Cost): string {
  const text = costText(cost)
  return text && `, ${text}`
}

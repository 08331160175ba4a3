const MARKS = /\p{Diacritic}/gu

/** Returns a text in lower case without accents, for comparing. Its length is that of the composed text. */
export function fold(text: string): string {
  return [...text.normalize('NFC')].map(foldLetter).join('')
}

function foldLetter(letter: string): string {
  if (letter === '’') return "'"
  const plain = letter.normalize('NFD').replace(MARKS, '').normalize('NFC').toLowerCase()
  return plain.length === letter.length ? plain : letter
}

/** Returns the words of a text, folded: letters and digits, with the dashes and dots within them. */
export function toWords(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)*/gu) ?? []
}

/** Words that say nothing about what is wanted, in the languages that the commands know best. */
const STOPS = new Set(
  `a about all am an and any anything are as at be been being but by can cant could currently d did do does
  doing done dont for from gave get gets getting give go going good got had has have hello here hey hi how i id if im in
  into is isnt it its just kind know let like list ll look looking m many me mine moment much my need no not now of off ok
  on one or our out over please pls put re really right s say see should show so some something t tell
  thank thanks that thats the their them then there these they thing things this those to today too u up us ve very was we
  were what whats when where which while who whos whose why will with would yes you your yours check currently display
  want wanna lately latest last yesterday week tonight current actually still again
  aber als am an auf aus bei bitte da das dem den der des die dies diese dieser du ein eine einem einen einer er es
  fur gerade gib gibt habe haben hallo hast hat heute hier ich ihr im in ist ja jetzt kann kannst konnen konntest man mein
  meine meinem meinen meiner mal mir mit nicht noch oder schon sehe sein sich sie sind so uber um und uns unser unsere viel
  viele vom von war warum was welche welcher welches wer wie wieso wieviel wieviele will wir wird wo zeig zeige zu zum zur
  moment momentan geht
  au aux avec ce ces cette combien comment dans de des du elle en est et il ils j je l la le les leur ma maintenant me mes
  mon montre nous ou par pas pour pourquoi quand que quel quelle quelles quels qu qui sa ses son sont sur t te un une vous y a
  stp svp actuellement dis
  al como con cual cuales cuantas cuantos cuanto del donde el ella ellos es esta estan este hay la las lo los mi mis muestra
  muestrame por que quien quienes se si su sus tengo tiene un una y ahora favor dime
  che chi come cosa da dei dello della delle di e gli ha hanno ho il lo ma mia mio mostra mostrami nel nella per quale quali
  quanti quanto quante se sei si sono sta stanno su sul sulla tu uno adesso ora dimmi c mi
  o os um uma meu minha no na nos quem qual quais quantos quanto esta estao agora por favor mostra
  de het een en is zijn mijn ik je jij wat wie waar hoe hoeveel welke op van voor met te er nu laat zien
  s re ll ve m nog vrij zostalo anyone anybody someone somebody everyone everybody long lang lange longtemps teraz czy jest sie moje moj na w z do ile jak co kto prosze
  в и на не что кто как где сколько у с по мне мой моя мои есть ли сейчас покажи`.split(/\s+/),
)

/** Words that change the meaning of a question little, but that of an order much. */
const SOFT = new Set('all off out over up today tonight yesterday week latest last alle'.split(' '))

/** Tells whether a word says nothing. `strict` is for orders: a skipped word may change what is done. */
export function isStop(word: string, strict = false): boolean {
  return STOPS.has(word) ? !(strict && SOFT.has(word)) : !strict && SOFT.has(word)
}

/** The tools' own words, each with the words that people use for it in several languages. */
const SAID_FOR = new Map(
  `
heat: hot heat heiss heiß warm temperature temperatures temperatur temperaturen chaud chaude caliente temperatura caldo heet temp temps cooled caldissimo temperatuur temperatury
disk: festplatte festplatten platte platten disque disques disco discos dischi schijf schijven drive drives hdd ssd harddisk discs dysk dyski
memory: ram speicher arbeitsspeicher memoire memoria geheugen память pamiec memória
space: left queda reste restant rimane platz speicherplatz espace espacio spazio espaco ruimte free remaining frei libre full voll plein lleno miejsce 空き容量 容量
cpu: processor prozessor processeur procesador processore процессор
load: auslastung busy charge carga carico last
download: downloads downloading downloaded telechargement telechargements descarga descargas descargando scaricamento torrent torrents lade ladt runtergeladen heruntergeladen загрузки загрузка pobieranie pobierania gedownload gedownloade baixando downloade sabnzbd qbittorrent transmission nzbget deluge nzb usenet
container: docker pods conteneur conteneurs contenedor contenedores
process: prozess prozesse processus proceso procesos processi process processes programs eating hogging frisst uses using used braucht verbraucht nutzt consomme consume
uses: eating eats hogging uses using used frisst verbraucht braucht nutzt consomme consume
player: online spieler joueur joueurs jugador jugadores giocatore giocatori spelers players playing plays spielt spielen joue jouent juega juegan игроков игроки играет connected conectado connecte verbonden gracze gra zockt
game: spiel spiele spieleserver gameserver jeu jeux juego juegos gioco giochi spelletje игровой игровые valheim minecraft factorio terraria gry マイクラ ゲーム
server: servers serveur serveurs servidor servidores server сервер серверы
film: movie movies filme films pelicula peliculas фильм filmy
series: serie serien series tv
watches: watching watch watched schaut guckt sieht regarde viendo guarda смотрит streaming streamt streams kijkt oglada ogladaja assiste transcoding transcode
alert: alarm alarme alarms warning warnings alerte alertes alertas alerts
notification: notify notifications benachrichtigung benachrichtigungen notificacion notificaciones message messages benachrichtige messaggio mensagem bericht powiadomienie ping nachricht nachrichten
health: healthy unhealthy failing gesund sante salud health dying kaputt broken wrong ok okay fine
log: logs protokoll protokolle journal journaux registros
added: new neu neues neue nouveau nouveaute nouveautes nuevo nuevos nuovo nieuw added hinzugefugt novo новое aggiunti aggiunto toegevoegd adicionado dodano recently recente
upcoming: come next release releases air upcoming coming kommt kommende prochain prochaines proximos soon demnachst episode episodes folge folgen premiere
requests: requested requests wunsche angefragt demandes wished request wish zamowienia pending missing arrived
history: verlauf historique historial finished completed fertig history
status: progress fortschritt state stand etat estado stato
channel: channels kanal kanale canal canaux canales
diagnose: slow lag laggy lagging lags langsam lent lente lento diagnose wrong ruckelt crash crashed crashes crasht planta
schedules: reminder reminders schedule scheduled erinnerungen erinnerung rappels recordatorios promemoria przypomnienia lembretes herinneringen ricordi
tasks: task aufgaben taches tareas
stop: shut down off stoppe stopp stoppen anhalten arrete arreter deten detener para ferma pare kill halt shutdown quit beende apaga apague spegni schalte
start: up starte starten demarre lance inicia avvia launch boot begin запусти
restart: reboot neustarten redemarre reinicia riavvia bounce starte-neu перезапусти reinicie herstart zrestartuj 再起動 starta-om
pause: pausiere pausieren suspend paused halte pausa pauze wstrzymaj
resume: continue unpause fortsetzen reprends reanuda riprendi unfreeze wznow hervat retoma
remove: delete losche loschen entferne supprime elimina borra cancel erase uninstall drop удали
add: ajoute anade aggiungi hinzufugen
send: text notify sende schicke envoie envia manda mande stuur wyslij verschick texte
silence: mute unmute
refresh: rescan scan
set: limit throttle cap change drossel drossle slow limite limita begrenze beperk
request: order add pide pedir richiedi aanvragen vraag
run: execute
system: machine rechner computer pc host box maschine ordinateur equipo macchina компьютер nas uptime cpu ram memory temperature temp temps free kompjuter doing reboot full voll plein lleno slow geheugen speicher arbeitsspeicher memoire memoria ruimte platz espace espacio spazio espaco miejsca miejsce swap network traffic load average netzwerk reseau
jellyfin: library mediathek bibliothek mediatheque biblioteca plex
session: stream streams sessions sitzung tv
running: laufen lauft tourne tournent corriendo attivi actifs activos
speed: fast schnell bandwidth vitesse velocidad velocidade snelheid snelheidslimiet geschwindigkeit limit
search: find suche cherche busca cerca zoek
cancel: delete remove losche loschen annule
stalled: stuck hangs hangt
all: alle alles tous toutes todos todas tutti tutte everything every`
    .trim()
    .split('\n')
    .map((line): [string, string[]] => {
      const [tools = '', people = ''] = line.split(': ')
      return [tools, people.split(' ')]
    }),
)

const meanings = new Map<string, string[]>()
for (const [tools, people] of SAID_FOR)
  for (const word of people) meanings.set(word, [...(meanings.get(word) ?? []), tools])

/** Words that a misspelled word may stand for. */
export const KNOWN_WORDS: ReadonlySet<string> = new Set([...SAID_FOR.keys(), ...meanings.keys()])

/** Returns the tools' words for a word of a person; empty where it is not known to mean one. */
export function meaningsOf(word: string): readonly string[] {
  return meanings.get(word) ?? (SAID_FOR.has(word) ? [word] : [])
}

/** Verbs of orders that change something, whatever the tools are called. */
const ORDERS = new Set(
  'update upgrade install retry approve scan reboot turn switch enable disable clean clear empty wipe format make create move rename block ban kick give write deploy close open lock unlock increase decrease raise lower schalte mach losch installiere aktualisiere'.split(
    ' ',
  ),
)

export function isOrderWord(word: string): boolean {
  return ORDERS.has(word)
}
